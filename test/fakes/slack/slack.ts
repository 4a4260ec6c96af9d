import { createDoors, type FakeDoors } from "./doors.ts";
import { createDelivery, type Delivery } from "./delivery.ts";
import { createHttpTransport, sign, verifyUrl } from "./http-transport.ts";
import { createPeople, type FakePeople, type Said } from "./people.ts";
import { statusLine } from "./sessions.ts";
import { createSockets, type Sockets } from "./sockets.ts";
import type {
  Acknowledgement,
  Call,
  Data,
  Delivered,
  Fault,
  FakeChannel,
  FakeEphemeral,
  FakeMessage,
  FakeReply,
  FakeSlackOptions,
  FakeStanding,
  FakeUser,
  FakeView,
  Ref,
} from "./types.ts";
import { blocksIn, buttonsOf, textOf, type ShownButton } from "./visible.ts";
import { createWebApi, type WebApi } from "./web-api.ts";
import {
  createWorld,
  directMessages,
  idOf,
  isStreaming,
  type SharedFile,
  type World,
} from "./world.ts";

export type * from "./types.ts";

/**
 * A Slack workspace with one app, on loopback: the Web API and Socket Mode on a port of its own, and HTTP events to an
 * address. It is as strict as Slack: every limit, error, deadline and retry that `@slack/bolt` can meet.
 * The deadline of an acknowledgement and the pauses between retries are real and can be scaled. People act by its methods, the app by its API.
 */
export class FakeSlack {
  readonly botToken = "xoxb-fake-bot-token";
  readonly appToken = "xapp-fake-app-token";
  readonly signingSecret = "fake-signing-secret";
  readonly #world: World;
  readonly #delivery: Delivery;
  readonly #sockets: Sockets;
  readonly #api: WebApi;
  readonly #people: FakePeople;
  /** Commands, shortcuts, Home, invitations. */
  readonly doors: FakeDoors;

  private constructor(options: FakeSlackOptions) {
    this.#world = createWorld(options);
    this.#sockets = createSockets(this.#world);
    this.#delivery = createDelivery(this.#world, this.#sockets);
    this.#people = createPeople(this.#world, this.#delivery);
    this.doors = createDoors(this.#world, this.#people, this.#delivery);
    this.#api = createWebApi(this.#world, this.#sockets, {
      botToken: this.botToken,
      appToken: this.appToken,
    });
  }

  static async start(options: FakeSlackOptions = {}): Promise<FakeSlack> {
    const slack = new FakeSlack(options);
    await slack.#api.listen();
    return slack;
  }

  /** Cuts every connection and forgets what was still to be delivered. */
  async stop(): Promise<void> {
    await this.#delivery.stop();
    this.#sockets.dropAll();
    await this.#api.close();
  }

  /** For `clientOptions.slackApiUrl`; ends in a slash. */
  get apiUrl(): string {
    return `${this.#world.origin}/api/`;
  }

  get team(): { id: string; domain: string; name: string; url: string } {
    return this.#world.team;
  }

  get appId(): string {
    return this.#world.app.id;
  }

  get botUser(): { id: string; name: string; botId: string } {
    return { id: this.#world.bot.id, name: this.#world.bot.name, botId: this.#world.app.botId };
  }

  // --- who and where there is ---

  /** `name` is the display name; a full member unless said otherwise. */
  addUser(user: { name: string; tz?: string; standing?: FakeStanding }): FakeUser {
    return this.#people.addUser(user);
  }

  /** The bot is in it unless `bot` is false. */
  addChannel(channel: {
    name: string;
    isPrivate?: boolean;
    members: readonly Ref[];
    bot?: boolean;
  }): FakeChannel {
    return this.#people.addChannel(channel);
  }

  /** With the message about it that Slack writes into the channel. */
  join(channel: Ref, user: Ref): void {
    this.#people.move(channel, user, "join");
  }

  leave(channel: Ref, user: Ref): void {
    this.#people.move(channel, user, "leave");
  }

  /** With another company (Slack Connect). */
  share(channel: Ref, sharing: "shared" | "invited"): void {
    this.#people.channel(channel).sharing = sharing;
  }

  archive(channel: Ref): void {
    this.#people.channel(channel).archived = true;
  }

  /** A user group with these members, in place of an earlier one of this id. */
  addGroup(id: string, users: readonly Ref[]): void {
    this.#world.groups.set(id, users.map(idOf));
  }

  /** The direct messages of a person with the bot. */
  openDm(user: Ref): FakeChannel {
    return directMessages(this.#world, this.#people.user(user));
  }

  // --- what people do ---

  /**
   * A person writes. `text` is what Slack hands on: `& < >` escaped, mentions as `<@U1>` (`typed` makes one of the other).
   * `mention` puts the bot's mention before it. Returns the message's ts at once; `acknowledged(ts)` waits for the app.
   */
  say(user: Ref, channel: Ref, text: string, said: Said = {}): string {
    return this.#people.say(user, channel, text, said);
  }

  /** A mention in the new text reaches the app as `app_mention` once more, as in Slack. */
  edit(user: Ref, channel: Ref, ts: string, text: string, attachments?: readonly Data[]): void {
    this.#people.edit(user, channel, ts, text, attachments);
  }

  remove(user: Ref, channel: Ref, ts: string): void {
    this.#people.remove(user, channel, ts);
  }

  /** A person puts an emoji on a message, by its name such as `pushpin`. */
  mark(user: Ref, channel: Ref, ts: string, emoji: string): void {
    this.#people.mark(user, channel, ts, emoji);
  }

  unmark(user: Ref, channel: Ref, ts: string, emoji: string): void {
    this.#people.unmark(user, channel, ts, emoji);
  }

  buttonsIn(window: FakeView): ShownButton[] {
    return buttonsOf({ blocks: blocksIn(window.view), text: "" });
  }

  textIn(view: Data): string {
    return textOf({ blocks: blocksIn(view), text: "" });
  }

  /** Files that the app put into channels and threads. */
  get sharedFiles(): readonly SharedFile[] {
    return this.#world.shared;
  }

  /** The same as `press`, in a window that is open. */
  pressIn(user: Ref, viewId: string, actionId: string): Promise<Acknowledgement> {
    return this.#people.pressIn(user, viewId, actionId);
  }

  /** A person presses the button with this action id. Slack sends it once; unacknowledged, the person sees a warning. */
  press(user: Ref, channel: Ref, ts: string, actionId: string): Promise<Acknowledgement> {
    return this.#people.press(user, channel, ts, actionId);
  }

  /**
   * A person sends a form: by block and action, or the one text it has. What the form does not permit cannot be sent.
   * What the app answered is applied: errors show in `views`, else it closes.
   */
  submit(
    user: Ref,
    viewId: string,
    values: string | Record<string, Record<string, string>>,
  ): Promise<Acknowledgement> {
    return this.#people.submit(user, viewId, values);
  }

  /** Slack's own Stop button, which is there while the thread's session is `processing` and the app listens for it. */
  stopSession(user: Ref, channel: Ref, thread: string): Promise<Acknowledgement> {
    return this.#people.stopSession(user, channel, thread);
  }

  // --- what can be seen ---

  /** What stands now, in order: the thread's messages, or all of the channel's. */
  messages(channel: Ref, thread?: string): FakeMessage[] {
    return this.#world.messages.filter(
      (message) =>
        message.channel === idOf(channel) &&
        message.subtype !== "tombstone" &&
        (thread === undefined || message.ts === thread || message.thread_ts === thread),
    );
  }

  /** What the person was answered to a command. */
  replies(user: Ref): FakeReply[] {
    return this.#world.replies.filter((reply) => reply.user === idOf(user));
  }

  home(user: Ref): Data | undefined {
    return this.#world.homes.get(idOf(user));
  }

  ephemerals(user: Ref): FakeEphemeral[] {
    return this.#world.ephemerals.filter((message) => message.user === idOf(user));
  }

  /** The forms this person has open, the newest last. */
  views(user: Ref): FakeView[] {
    return this.#world.views.filter((view) => view.open && view.user === idOf(user));
  }

  /** The thread's session as it stands. */
  /** The words beside the thread; empty: none. */
  statusLine(channel: Ref, thread: string): string {
    return statusLine(this.#world, idOf(channel), thread);
  }

  /** Streams that the app ended, by their messages: their followers are notified of that, and of no beginning. */
  get stoppedStreams(): readonly string[] {
    return this.#world.stopped;
  }

  /** What takes chunks now. */
  openStreams(channel: Ref, thread: string): FakeMessage[] {
    return this.messages(channel, thread).filter((message) => isStreaming(this.#world, message));
  }

  /** The bot's, on this message. */
  reactions(channel: Ref, ts: string): string[] {
    return [...(this.#world.reactions.get(`${idOf(channel)} ${ts}`) ?? [])];
  }

  title(channel: Ref, thread: string): string | undefined {
    return this.#world.titles.get(`${idOf(channel)} ${thread}`);
  }

  session(channel: Ref, thread: string): string | undefined {
    return this.#world.sessions.get(`${idOf(channel)} ${thread}`);
  }

  textOf(message: FakeMessage | FakeEphemeral | FakeReply): string {
    return textOf(message);
  }

  buttonsOf(message: FakeMessage | FakeEphemeral): ShownButton[] {
    return buttonsOf(message);
  }

  /** Every mention in what the app wrote that notifies people, such as `<!channel>`; edits notify nobody. */
  get pings(): readonly { ts: string; what: string }[] {
    return this.#world.pings;
  }

  /** Every request to the Web API, in order of arrival. */
  get calls(): readonly Call[] {
    return this.#api.calls;
  }

  /** Every event and interaction, with its attempts. */
  get deliveries(): readonly Delivered[] {
    return this.#delivery.deliveries;
  }

  /** What became of the events about a message, once all their attempts are over; none when the app gets none. */
  acknowledged(ts: string): Promise<Acknowledgement[]> {
    return this.#delivery.about(ts);
  }

  /** Resolves when nothing is being delivered. */
  idle(): Promise<void> {
    return this.#delivery.idle();
  }

  // --- delivery and its trouble ---

  /** Open Socket Mode connections. */
  get connections(): number {
    return this.#sockets.count();
  }

  /**
   * From now on everything goes to this address by HTTP, or by Socket Mode again.
   * @throws when the address does not answer Slack's `url_verification`
   */
  async deliverTo(url: string | undefined): Promise<void> {
    if (url === undefined) return this.#delivery.use(this.#sockets);
    await verifyUrl(url, this.signingSecret);
    this.#delivery.use(createHttpTransport(url, this.signingSecret, this.#world.settings));
  }

  /** The headers of a signed request, for those a test sends itself; `at` in ms. */
  sign(body: string, at = Date.now(), secret = this.signingSecret): Record<string, string> {
    return sign(body, secret, at);
  }

  /** The body of an event as it would be sent, for requests a test sends itself. */
  envelope(event: Data): Data {
    return this.#delivery.envelope(event);
  }

  /** Slack asks every connection to reconnect, and closes it. */
  disconnect(
    reason: "warning" | "refresh_requested" | "link_disabled" = "refresh_requested",
  ): void {
    this.#sockets.disconnect(reason);
  }

  /** A whole Socket Mode frame over every connection, whatever it is. */
  sendFrame(frame: unknown): void {
    this.#sockets.sendFrame(frame);
  }

  /** Every connection breaks off. */
  dropConnections(): void {
    this.#sockets.dropAll();
  }

  /** Deliver every event and interaction `copies` times out of order from now on. */
  set shuffle(shuffle: { copies: number; seed: number }) {
    this.#delivery.shuffle(shuffle);
  }

  /** Spoils the next calls of a method (`*`: of any). */
  fail(method: string, fault: Fault): void {
    this.#api.fail(method, fault);
  }

  /** Takes back every fault. */
  mend(): void {
    this.#api.mend();
  }

  set latencyMs(ms: number) {
    this.#world.settings.latencyMs = ms;
  }

  /** What the token may do from now on; the app was installed anew. */
  set scopes(scopes: readonly string[]) {
    this.#world.settings.scopes = scopes;
  }

  /** How the API takes the bot's token from now on: any but `valid` is the error it gives. */
  set tokenState(state: "valid" | "invalid_auth" | "token_revoked" | "account_inactive") {
    this.#api.tokenState(state);
  }
}

/** What Slack makes of what a person types: `& < >` escaped, addresses in angle brackets. */
export function typed(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/\bhttps?:\/\/[^\s]+/g, (url) => `<${url}>`)
    .replaceAll(
      /(?<![\w./<@:-])(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev)\b(?![\w@-])/g,
      (host) => `<http://${host}|${host}>`,
    );
}

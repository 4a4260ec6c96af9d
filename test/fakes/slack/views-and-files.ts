import { viewProblems } from "./blocks.ts";
import { ownMessage, put } from "./chat.ts";
import { showForm } from "./forms.ts";
import { type Args, type Methods } from "./method.ts";
import { fileData } from "./posting.ts";
import type { Data, FakeMessage } from "./types.ts";
import { findMessage, invalid, Refusal, writableChannel, type World } from "./world.ts";

/** https://docs.slack.dev/interactivity/handling-user-interaction#modal_responses */
const TRIGGER_LIFE_MS = 3_000;

/** A trigger is good once and for 3 s. @throws Refusal */
function exchange(world: World, args: Args): string {
  const id = args.need("trigger_id");
  const trigger = world.triggers.get(id);
  if (trigger === undefined) throw new Refusal("invalid_trigger_id");
  if (trigger.used) throw new Refusal("exchanged_trigger_id");
  if (world.now() - trigger.at > TRIGGER_LIFE_MS) throw new Refusal("expired_trigger_id");
  trigger.used = true;
  return trigger.user;
}

export function viewMethods(world: World): Methods {
  return {
    "views.open": {
      tier: 4,
      run(args) {
        const view = args.json("view", "invalid_arguments");
        if (view === undefined) throw invalid("missing required field: view");
        const problems = viewProblems(view);
        if (problems.length > 0) throw invalid(...problems);
        const user = exchange(world, args);
        return { view: showForm(world, user, view).view };
      },
    },
    "views.update": {
      tier: 4,
      run(args) {
        const id = args.text("view_id");
        const external = args.text("external_id");
        const form = world.views.find(
          (view) =>
            view.open &&
            (view.id === id || (external !== undefined && view.view["external_id"] === external)),
        );
        if (form === undefined) throw new Refusal("not_found");
        const hash = args.text("hash");
        if (hash !== undefined && hash !== form.view["hash"]) throw new Refusal("hash_conflict");
        const view = args.json("view", "invalid_arguments");
        return { view: showForm(world, form.user, view, form).view };
      },
    },
  };
}

function complete(world: World, args: Args): Data {
  const given = args.json("files", "invalid_arguments");
  if (!Array.isArray(given) || given.length === 0) throw invalid("missing required field: files");
  const uploads = given.map((file: Data) => {
    const upload = world.uploads.get(String(file["id"]));
    if (upload?.content === undefined || upload.owner !== undefined) {
      throw new Refusal("file_not_found");
    }
    return upload;
  });
  const target = args.text("channel_id");
  const channel = target === undefined ? undefined : writableChannel(world, target);
  const thread = args.text("thread_ts");
  for (const upload of uploads) upload.owner = world.bot.id;
  const files = uploads.map((upload) => fileData(world, upload));
  if (channel !== undefined) {
    const isThere = thread !== undefined && findMessage(world, channel.id, thread) !== undefined;
    const message: FakeMessage = {
      ...ownMessage(world, channel),
      subtype: "file_share",
      text: args.text("initial_comment") ?? "",
      files,
      ...(isThere && { thread_ts: thread }),
    };
    put(world, message);
  }
  return { files };
}

export function fileMethods(world: World): Methods {
  const scopes = ["files:write"];
  return {
    "files.getUploadURLExternal": {
      tier: 4,
      scopes,
      run(args) {
        const name = args.need("filename");
        const length = Number(args.need("length"));
        if (!Number.isInteger(length) || length < 1) throw invalid("length must be above 0");
        const id = world.nextId("F");
        const mimetype = "application/octet-stream";
        world.uploads.set(id, { id, name, mimetype, content: undefined, owner: undefined });
        return { upload_url: `${world.origin}/upload/v1/${id}`, file_id: id };
      },
    },
    "files.completeUploadExternal": { tier: 4, scopes, run: (args) => complete(world, args) },
  };
}

import type { Methods } from "./method.ts";
import type { Data, FakeUser } from "./types.ts";
import { Refusal, type World } from "./world.ts";

function offsetOf(tz: string): number {
  const [, sign, hours = "0", minutes = "0"] =
    /([+-])(\d\d):(\d\d)$/.exec(
      new Intl.DateTimeFormat("en", { timeZone: tz, timeZoneName: "longOffset" }).format(0),
    ) ?? [];
  return (Number(hours) * 3_600 + Number(minutes) * 60) * (sign === "-" ? -1 : 1);
}

/** A user as `users.info` gives them: who has left has no zone and no roles any more. */
function described(user: FakeUser): Data {
  const { id, name, teamId, tz, standing } = user;
  const profile = {
    real_name: name,
    real_name_normalized: name,
    display_name: name,
    display_name_normalized: name,
    team: teamId,
  };
  const common = { id, team_id: teamId, name, profile, updated: 1_700_000_000 };
  if (standing === "deactivated") return { ...common, deleted: true, is_bot: false };
  const isUltra = standing === "ultra guest";
  return {
    ...common,
    deleted: false,
    real_name: name,
    ...(tz !== undefined && { tz, tz_label: tz, tz_offset: offsetOf(tz) }),
    is_admin: false,
    is_owner: false,
    is_primary_owner: false,
    is_restricted: isUltra || standing === "guest",
    is_ultra_restricted: isUltra,
    is_bot: standing === "bot",
    is_app_user: false,
    ...(standing === "stranger" && { is_stranger: true }),
  };
}

/** Who the app, the people and their groups are. */
export function directoryMethods(world: World): Methods {
  return {
    "auth.test": {
      run: () => ({
        url: world.team.url,
        team: world.team.name,
        user: world.bot.name,
        team_id: world.team.id,
        user_id: world.bot.id,
        bot_id: world.app.botId,
        is_enterprise_install: false,
      }),
      ofApp: () => ({ app_id: world.app.id, app_name: world.bot.name }),
    },
    "bots.info": {
      scopes: ["users:read"],
      run(args) {
        if (args.need("bot") !== world.app.botId) throw new Refusal("bot_not_found");
        const { id: app_id, botId: id } = world.app;
        return { bot: { id, app_id, name: world.bot.name, deleted: false } };
      },
    },
    "users.info": {
      scopes: ["users:read"],
      run(args) {
        const user = world.users.get(args.need("user"));
        if (user === undefined) throw new Refusal("user_not_found");
        return { user: described(user) };
      },
    },
    "usergroups.list": {
      scopes: ["usergroups:read"],
      run: () => ({
        usergroups: [...world.groups.keys()].map((id) => ({
          id,
          team_id: world.team.id,
          is_usergroup: true,
          name: `Team ${id}`,
          handle: id.toLowerCase(),
          date_delete: 0,
        })),
      }),
    },
    "usergroups.users.list": {
      scopes: ["usergroups:read"],
      run(args) {
        const users = world.groups.get(args.need("usergroup"));
        if (users === undefined) throw new Refusal("no_such_subteam");
        return { users };
      },
    },
  };
}

import * as z from "zod";
import { homeProblems, viewProblems } from "./blocks.ts";
import { showForm, updateForm } from "./forms.ts";
import { type Args, type Methods } from "./method.ts";
import { invalid, Refusal, type World } from "./world.ts";

/** A trigger is good once and for 3 s. @throws Refusal */
function exchange(world: World, args: Args): string {
  const id = args.need("trigger_id");
  const trigger = world.triggers.get(id);
  if (trigger === undefined) throw new Refusal("invalid_trigger_id");
  if (trigger.used) throw new Refusal("exchanged_trigger_id");
  if (trigger.expired) throw new Refusal("expired_trigger_id");
  trigger.used = true;
  return trigger.user;
}

export function viewMethods(world: World): Methods {
  return {
    "views.publish": {
      run(args) {
        const user = args.need("user_id");
        const view = args.json("view", "invalid_arguments");
        if (view === undefined) throw invalid("missing required field: view");
        if (!world.users.has(user)) throw new Refusal("user_not_found");
        if (!world.settings.home) throw new Refusal("not_enabled");
        const problems = homeProblems(view);
        if (problems.length > 0) throw invalid(...problems);
        world.homes.set(user, z.record(z.string(), z.unknown()).parse(view));
        return { view: { id: world.nextId("V"), type: "home" } };
      },
    },
    "views.open": {
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
      run(args) {
        const view = args.json("view", "invalid_arguments");
        const shown = world.views.find(({ id, open }) => id === args.need("view_id") && open);
        if (view === undefined) throw invalid("missing required field: view");
        if (shown === undefined) throw new Refusal("not_found");
        const hash = args.text("hash");
        if (hash !== undefined && hash !== shown.view["hash"]) throw new Refusal("hash_conflict");
        return { view: updateForm(world, shown, view).view };
      },
    },
  };
}

// The parts of the explorer for a job of one's own, in their places: files in, ways on, launch files out.
import { checkPart } from "./checked.js";
import { launchFiles } from "./launch_files.js";
import { ownJob } from "./own_job.js";
import { waysOut } from "./ways_out.js";

/** What a model or a cluster from elsewhere keeps of the job in sight. */
const kept = ({ model, cluster, batch: { sequences, length }, framework, precision, optimizer, run }) =>
  JSON.parse(JSON.stringify({ model, cluster, batch: { sequences, length }, framework, precision, optimizer, run }));

/**
 * `sight()` is the plan in sight, `settled()` the same with its order, `want(wish)` shows another.
 * `aside`, `ways`, `check` and `launch` are parts of the page; `show(answer)` follows each prediction.
 */
export function ownParts(choices, { engine, sight, settled, want }) {
  const ask = (question) => engine.ask(question);
  const { module } = engine;
  const job = ownJob(choices, { ask, module, beside: () => (sight() ? kept(sight().job) : {}), want });
  const launch = launchFiles(choices, { ask, plan: settled, want });
  const ways = waysOut({ module, want });
  const check = checkPart({ module, plan: settled, want });
  return {
    aside: job.part,
    ways: ways.part,
    check: check.part,
    launch: launch.part,
    show: (answer) => {
      job.show(answer.plan);
      launch.show();
      check.show();
      ways.show(answer);
    },
  };
}

"""Chooses the plan when a job starts, for the nodes that it got, and writes the file that runs it.

    python choose_plan.py job.yaml --to megatron -o train.sh && bash train.sh

Without --nodes the number is that of Slurm's allocation, else the job's own. Only rank 0 of a
launcher should run this.
"""

import argparse
import os
import sys

import stepwright


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job", help="job file (stepwright init)")
    parser.add_argument("--nodes", type=int, default=os.environ.get("SLURM_JOB_NUM_NODES"))
    parser.add_argument("--to", default="megatron", help="whose launch file (docs/launch.md)")
    parser.add_argument("-o", "--output", required=True)
    return parser.parse_args()


def chosen(job: stepwright.Job, to: str) -> tuple[stepwright.TunedPlan, str]:
    """The fastest plan that fits and that the framework runs, with its launch file."""
    tuning = stepwright.tune(job)
    for tuned in (tuning.best, *tuning.plans, *tuning.alternatives):
        try:
            return tuned, stepwright.export(tuned.plan, to=to)
        except stepwright.UnsupportedError:
            continue
    return tuning.best, stepwright.export(tuning.best.plan, to=to, nearest=True)


def main() -> int:
    asked = options()
    try:
        job = stepwright.load(asked.job)
        if asked.nodes:
            job = job.with_(cluster={"nodes": int(asked.nodes)})
        tuned, launch_file = chosen(job, asked.to)
    except stepwright.StepwrightError as error:
        print(error, file=sys.stderr)
        return 1
    with open(asked.output, "w", encoding="utf-8") as file:
        file.write(launch_file)
    print(f"{tuned.plan.code}: {tuned.step_time_s:.3g} s a step ({tuned.low_s:.3g} to", end=" ")
    print(f"{tuned.high_s:.3g} s), P(fits) {tuned.p_fits:.2f}; wrote {asked.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

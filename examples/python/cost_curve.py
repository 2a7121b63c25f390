"""What a training run takes and costs on clusters of several sizes, each with its best plan.

    python cost_curve.py job.yaml --nodes 4,8,16,32 --tokens 15e12 --price-per-gpu-hour 2.5

Prints comma-separated values, a line for each size: nodes, plan, step_s, mfu, days, gpu_hours, cost
and what each day less costs against the size before.
"""

import argparse
import sys

import stepwright


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job", help="job file (stepwright init)")
    parser.add_argument("--nodes", required=True, help="sizes, with commas: 4,8,16")
    parser.add_argument("--tokens", type=float, required=True, help="of the whole run: 15e12")
    parser.add_argument("--price-per-gpu-hour", type=float, required=True)
    return parser.parse_args()


def cells(point: stepwright.SweepPoint, before: stepwright.SweepPoint | None) -> list[str]:
    """One line; a size on which nothing runs says why."""
    if point.plan is None or not point.fits:
        return [str(point.value), f'"{point.refused or "no plan fits in memory"}"']
    day = ""
    if before and before.days > point.days:
        day = f"{(point.cost - before.cost) / (before.days - point.days):.0f}"
    return [
        str(point.value),
        point.plan.code.replace(",", " "),
        f"{point.step_time_s:.4g}",
        f"{point.mfu:.3f}",
        f"{point.days:.2f}",
        f"{point.gpu_hours:.0f}",
        f"{point.cost:.0f}",
        day,
    ]


def main() -> int:
    asked = options()
    try:
        points = stepwright.sweep(
            asked.job,
            "cluster.nodes",
            asked.nodes.split(","),
            tokens=asked.tokens,
            price_per_gpu_hour=asked.price_per_gpu_hour,
        )
    except stepwright.StepwrightError as error:
        print(error, file=sys.stderr)
        return 1
    print("nodes,plan,step_s,mfu,days,gpu_hours,cost,cost_of_a_day_less")
    before = None
    for point in points:
        print(",".join(cells(point, before)))
        before = point if point.plan is not None and point.fits else before
    return 0


if __name__ == "__main__":
    sys.exit(main())

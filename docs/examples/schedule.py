#!/usr/bin/env python3
"""A strategy for "nnsoc schedule SCENARIO --strategies exec:docs/examples/schedule.py".

It tries every engine for each whole network, one network after the other, and
keeps what is predicted to miss the fewest deadlines, then the shortest mean.
"""
import json
import sys


def say(answer):
    print(json.dumps(answer), flush=True)


def main():
    problem = json.loads(sys.stdin.readline())["problem"]
    devices, networks = problem["devices"], problem["networks"]

    def runs(n):
        return [d for d, cost in zip(devices, n["whole"]) if cost is not None]

    def score(plan):
        say({"evaluate": plan})
        p = json.loads(sys.stdin.readline())["prediction"]
        return p["missed"], p["mean_us"]

    plan = [[runs(n)[0]] for n in networks]
    for i, n in enumerate(networks):
        plans = [plan[:i] + [[d]] + plan[i + 1:] for d in runs(n)]
        plan = min(plans, key=score)
    say({"plan": plan})


main()

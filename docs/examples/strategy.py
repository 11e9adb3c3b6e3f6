#!/usr/bin/env python3
"""A strategy for "nnsoc partition MODEL --strategies exec:docs/examples/strategy.py".

It takes the one device on which the whole network costs least, and leaves to
the CPU what that device does not support.
"""
import json
import sys


def main():
    problem = json.load(sys.stdin)
    key = "energy_uj" if problem["objective"] == "energy" else "time_us"
    devices = problem["devices"]

    def plan(device):
        """Devices per operation, and the cost of segments and operations."""
        chosen, total, last = [], 0.0, None
        for op in problem["operations"]:
            d = device if op["costs"][device] is not None else 0
            if d != last:
                total += devices[d]["segment"][key]
            total += op["costs"][d][key]
            chosen.append(devices[d]["name"])
            last = d
        return total, chosen

    best = min((plan(d) for d in range(len(devices))), key=lambda p: p[0])
    json.dump({"devices": best[1]}, sys.stdout)


main()

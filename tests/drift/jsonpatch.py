"""Applies a JSON patch (RFC 6902) like a server, for the operations that policygen writes."""

import copy


def applied(thing, operations):
    made = copy.deepcopy(thing)
    for it in operations:
        *way, last = (
            step.replace("~1", "/").replace("~0", "~") for step in it["path"].split("/")[1:]
        )
        holder = made
        for step in way:
            holder = holder[int(step) if isinstance(holder, list) else step]
        key = int(last) if isinstance(holder, list) else last
        match it["op"]:
            case "test":
                assert holder[key] == it["value"], it
            case "remove":
                del holder[key]
            case "add" if isinstance(holder, list):
                assert key <= len(holder)
                holder.insert(key, copy.deepcopy(it["value"]))
            case "add" | "replace":
                assert it["op"] == "add" or (
                    key < len(holder) if isinstance(holder, list) else key in holder
                )
                holder[key] = copy.deepcopy(it["value"])
            case other:
                raise AssertionError(other)
    return made

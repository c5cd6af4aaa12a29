"""What translating costs, as multiples of the floor: parsing the same bytes and writing them again with orjson.

    python -m turncodec.bench [--rounds N] [--times N]

Everything is measured in one run and in turns, so that the ratios hold on a machine that others use too. A figure is
the median, over the rounds, of the CPU time of one way divided by that of the floor in the same round. Needs orjson;
the peers are measured where they are installed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import msgspec

from turncodec.edge import decode, encode
from turncodec.formats import CHAT, RESPONSES, examine
from turncodec.translate import to_chat, to_responses

ROUNDS = 40
TIMES = 40

Way = Callable[[], object]

read = msgspec.json.Decoder().decode

# ---------------------------------------------------------------- the yardstick

ORDERS = ("W2378156", "W6679254", "W5490111", "W4817420", "W9311069", "W7387996")


def transcript() -> list[dict[str, Any]]:
    """The yardstick: 20 messages, 6 tool calls, about 7 kB of JSON, in the manner of a customer's conversation with an
    agent: results are JSON text, answers have lines and dashes."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": POLICY}]
    for n in range(3):
        first, second = ORDERS[2 * n], ORDERS[2 * n + 1]
        messages.append({"role": "user", "content": QUESTION.format(first=first, second=second)})
        if n < 2:
            messages += called([call(first), call(second)])
        else:
            messages += called([call(first)]) + called([call(second)])
        messages.append({"role": "assistant", "content": ANSWER.format(first=first, second=second)})
    messages.append({"role": "user", "content": "That’s all I wanted to know – thanks a lot, and have a good day!"})
    messages.append({"role": "assistant", "content": "You’re welcome! Is there anything else I can do for you today?"})
    messages.append({"role": "user", "content": "No."})
    return messages


def called(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    results = [{"role": "tool", "tool_call_id": call["id"], "content": result(call["id"][5:])} for call in calls]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def call(order: str) -> dict[str, Any]:
    arguments = json.dumps({"order_id": f"#{order}", "fields": ["status", "items", "address"], "verbose": False})
    return {
        "id": f"call_{order}",
        "type": "function",
        "function": {"name": "get_order_details", "arguments": arguments},
    }


def result(order: str) -> str:
    items = [
        {"name": name, "item_id": f"{order[1:]}{n}", "price": 49.5 + n} for n, name in enumerate(("Kettle", "Lamp"))
    ]
    address = {"street": "Rue de l’Église 12", "city": "Liège", "zip": "4000"}
    return json.dumps({"order_id": f"#{order}", "status": "delivered", "items": items, "address": address})


POLICY = (
    "You are an agent of a shop.\n\n- Before you change anything, list the details and get the user’s consent (“yes”)."
    "\n- Make at most one kind of change to an order, and at most one call at a time when you change something."
    "\n- You can’t help with orders of anybody else; if asked, say so and go on with what you can do.\n"
    "- If you can’t do what the user wants within these rules, hand over to a person: “transfer_to_human”.\n\n"
    "# Orders\n\nAn order is *pending*, *processed*, *delivered* or *cancelled*. Only pending orders can be changed, "
    "and only delivered ones returned. Money goes back to the card that paid, in 5 to 7 days.\n\n"
    "# Returns\n\n1. Ask for the number of the order and the items to be returned.\n2. Ask how the money should be "
    "given back: to the card that paid, or as a gift card.\n3. After the user’s “yes”, the state becomes *return "
    "requested*, and a letter says how to send the items.\n\n"
    "# Exchanges\n\nAn item can be exchanged for the same product in another size or colour – not another one. "
    "The user pays or gets back the difference. All items to be exchanged must be in one list: ask “is that all?”\n\n"
    "# Addresses\n\nThe address of a pending order can be changed; all of it must be given."
)
QUESTION = (
    "Hi! I’m not sure my orders #{first} and #{second} arrived – can you look? I’d like to know\n1. where\n2. when"
)
ANSWER = (
    "Both are delivered:\n\n- **#{first}**: Kettle ($49.50), Lamp ($50.50)\n- **#{second}**: Kettle ($49.50), Lamp "
    "($50.50)\n\nThey went to Rue de l’Église 12 in Liège. Would you like to return “something” – or shall I leave it?"
)

# ---------------------------------------------------------------- the ways


def ways(messages: list[dict[str, Any]]) -> Iterator[tuple[str, Way]]:
    """Each way with its name; the floor comes first."""
    orjson = import_module("orjson")
    source = encode(messages)
    items = CHAT.map(messages)
    stored = encode(items)
    yield "floor: orjson.loads + orjson.dumps", lambda: orjson.dumps(orjson.loads(source))
    yield "values to values, validated and proved", lambda: to_responses(messages)
    yield "values to values in an object, validated and proved", lambda: to_responses({"messages": messages})
    yield "bytes to bytes, validated", lambda: encode(validated(read(source)))
    yield "bytes to bytes, validated and proved", lambda: encode(to_responses(read(source)).document)
    yield "the same, and no key stands twice", lambda: encode(to_responses(decode(source)).document)
    yield "back: values to values, validated and proved", lambda: to_chat(items)
    yield "back: bytes to bytes, validated and proved", lambda: encode(to_chat(read(stored)).document)
    yield from peers(items)


def validated(messages: list[Any]) -> list[Any]:
    """Only the first three of the four steps."""
    findings, _ = examine(messages, CHAT)
    assert not findings
    return CHAT.map(messages)


def peers(items: list[dict[str, Any]]) -> Iterator[tuple[str, Way]]:
    """Other converters of items to messages, values to values, where they are installed. They neither validate nor
    prove."""
    try:
        converter = import_module("agents.models.chatcmpl_converter").Converter
        yield "peer: openai-agents, items to messages", lambda: converter.items_to_messages(items)
    except ImportError:
        pass
    try:
        litellm = import_module("litellm.responses.litellm_completion_transformation.transformation")
        config = litellm.LiteLLMCompletionResponsesConfig
        yield (
            "peer: litellm, items to messages",
            lambda: config.transform_responses_api_input_to_messages(items, {}),
        )
    except ImportError:
        pass


# ---------------------------------------------------------------- the clock


def measure(chosen: list[tuple[str, Way]], rounds: int, times: int) -> dict[str, list[float]]:
    """Seconds of CPU time a call, by way, one figure a round."""
    seconds: dict[str, list[float]] = {name: [] for name, _ in chosen}
    for _ in range(rounds):
        for name, way in chosen:
            start = time.process_time()
            for _ in range(times):
                way()
            seconds[name].append((time.process_time() - start) / times)
    return seconds


def ratios(seconds: dict[str, list[float]]) -> dict[str, float]:
    """The median ratio of each way to the first."""
    floor = next(iter(seconds.values()))
    return {name: statistics.median(a / b for a, b in zip(own, floor, strict=True)) for name, own in seconds.items()}


def main(rounds: int = ROUNDS, times: int = TIMES) -> int:
    """Measure and print; the exit status."""
    messages = transcript()
    assert to_responses(messages).remainder is None
    assert RESPONSES.map(CHAT.map(messages)) == messages
    try:
        chosen = list(ways(messages))
    except ImportError:
        print("the benchmark needs orjson: pip install orjson", file=sys.stderr)  # noqa: T201
        return 2
    seconds = measure(chosen, rounds, times)
    floor = statistics.median(next(iter(seconds.values())))
    calls = sum(len(message.get("tool_calls", ())) for message in messages)
    head = f"{len(messages)} messages, {calls} tool calls, {len(encode(messages)):,} bytes; floor {floor * 1e6:.1f} µs"
    print(f"{head}, Python {sys.version.split()[0]}\n")  # noqa: T201
    for name, ratio in ratios(seconds).items():
        print(f"{ratio:6.2f} x  {name}")  # noqa: T201
    return 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(prog="python -m turncodec.bench", description="Multiples of the floor.")
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    arguments.add_argument("--times", type=int, default=TIMES)
    chosen = arguments.parse_args()
    sys.exit(main(chosen.rounds, chosen.times))

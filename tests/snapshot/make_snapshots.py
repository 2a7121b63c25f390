"""Writes tests/snapshot/data/: small snapshots in the forms of several versions of PyTorch.

The keys of each version are written by hand from its source, so that no GPU is needed:
- torch/csrc/cuda/Module.cpp, THCPModule_memorySnapshot, of 2.1.0, 2.3.0, 2.6.0 and 2.9.0;
- torch/csrc/cuda/memory_snapshot.cpp, _memory_snapshot_pickled, of 2.1.0 (protocol 2, all elements
  of a list behind one mark);
- torch/cuda/_memory_viz.py of 2.13.0, which reads all of them, and blocks with a `history` of 2.0.

All have one run: 3000 bytes that are there before the recording, 2 MiB allocated in `forward`,
1 MiB allocated in `loss`, which reaches the peak, 2 MiB freed, 512 KiB allocated.

    python3 tests/snapshot/make_snapshots.py [FOLDER]
    python3 tests/snapshot/make_snapshots.py --large FILE BYTES

The latter writes one file of about that many bytes: 1000 blocks of 40 frames, allocated and freed
again and again.
"""

import json
import pickle
import sys
from pathlib import Path

MIB = 1 << 20
BASE = 0x7F0000000000
OLD = {"name": "load", "filename": "/home/me/train.py", "line": 7}
FORWARD = [
    {"name": "forward", "filename": "/home/me/model/mlp.py", "line": 31},
    {"name": "train", "filename": "/home/me/train.py", "line": 88},
]
LOSS = [
    {"name": "cross_entropy", "filename": "/home/me/loss.py", "line": 12},
    {"name": "train", "filename": "/home/me/train.py", "line": 90},
]


def event(version, action, offset, size, frames):
    """An event with the keys of a version."""
    entry = {"action": action, "addr": BASE + offset, "size": size, "stream": 0}
    if version >= (2, 3):
        entry["time_us"] = 1700000000000000 + offset
    if version >= (2, 6):
        entry["compile_context"] = "N/A"
    if version >= (2, 9):
        entry["user_metadata"] = ""
    entry["frames"] = frames
    return entry


def block(version, offset, sizes, state, frames):
    """A block of so many bytes, and of so many that were asked for."""
    size, requested = sizes
    if version < (2, 1):
        if state == "inactive":
            return {"size": size, "state": state}
        history = {"addr": BASE + offset, "frames": frames, "real_size": requested}
        return {"size": size, "state": state, "history": [history]}
    entry = {"address": BASE + offset, "size": size, "requested_size": requested, "state": state}
    return {**entry, "frames": frames}


def segment(version):
    old, late = [OLD], LOSS
    blocks = [
        block(version, 0, (3072, 3000), "active_allocated", old),
        block(version, 3072, (2 * MIB, 0), "inactive", []),
        block(version, 3072 + 2 * MIB, (MIB, MIB), "active_allocated", late),
        block(version, 3072 + 3 * MIB, (MIB // 2, MIB // 2), "active_allocated", FORWARD),
        block(version, 3072 + 7 * MIB // 2, (MIB // 2 - 3072, 0), "inactive", []),
    ]
    entry = {
        "device": 0,
        "address": BASE,
        "total_size": 4 * MIB,
        "allocated_size": 3072 + MIB + MIB // 2,
        "active_size": 3072 + MIB + MIB // 2,
        "requested_size": 3000 + MIB + MIB // 2,
        "stream": 0,
        "segment_type": "large",
        "blocks": blocks,
    }
    if version >= (2, 1):
        entry |= {"segment_pool_id": (0, 0), "is_expandable": False, "frames": old}
    return entry


def trace(version):
    return [
        event(version, "segment_alloc", 0, 4 * MIB, FORWARD),
        event(version, "alloc", 3072, 2 * MIB, FORWARD),
        event(version, "alloc", 3072 + 2 * MIB, MIB, LOSS),
        event(version, "free_requested", 3072, 2 * MIB, FORWARD),
        event(version, "free_completed", 3072, 2 * MIB, FORWARD),
        event(version, "alloc", 3072 + 3 * MIB, MIB // 2, FORWARD),
        {"action": "oom", "device_free": 100, "size": 1 << 30, "stream": 0, "frames": LOSS},
        event(version, "snapshot", 0, 0, []),
    ]


def snapshot(version):
    """The whole of a version, of a process that sees two devices and uses the first."""
    whole = {"segments": [segment(version)], "device_traces": [trace(version), []]}
    if version >= (2, 1):
        whole["allocator_settings"] = {
            "PYTORCH_CUDA_ALLOC_CONF": "",
            "max_split_size": -1,
            "garbage_collection_threshold": 0.0,
            "expandable_segments": False,
            "roundup_power2_divisions": {"1": 0, "2": 0},
        }
    if version >= (2, 6):
        whole["external_annotations"] = []
    return whole


class Pickler:
    """What torch/csrc/jit/serialization/pickler.cpp writes without type tags: protocol 2; texts are
    named once; a list is one mark with all of its elements."""

    def __init__(self):
        self.out = bytearray(b"\x80\x02")
        self.names = {}

    def text(self, value):
        if value in self.names:
            name = self.names[value]
            self.out += b"h" + bytes([name]) if name < 256 else b"j" + name.to_bytes(4, "little")
            return
        raw = value.encode()
        self.out += b"X" + len(raw).to_bytes(4, "little") + raw
        name = self.names[value] = len(self.names)
        self.out += b"q" + bytes([name]) if name < 256 else b"r" + name.to_bytes(4, "little")

    def number(self, value):
        if 0 <= value < 256:
            self.out += b"K" + bytes([value])
        elif -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + value.to_bytes(4, "little", signed=True)
        else:
            self.out += b"\x8a\x08" + value.to_bytes(8, "little", signed=True)

    def value(self, value):
        if isinstance(value, bool):
            self.out += b"\x88" if value else b"\x89"
        elif isinstance(value, int):
            self.number(value)
        elif isinstance(value, float):
            self.out += pickle.dumps(value, 2)[2:-1]
        elif isinstance(value, str):
            self.text(value)
        elif isinstance(value, dict):
            self.out += b"}("
            for key, inner in value.items():
                self.value(key)
                self.value(inner)
            self.out += b"u"
        else:
            self.out += b"](" if isinstance(value, list) else b"("
            for inner in value:
                self.value(inner)
            self.out += b"e" if isinstance(value, list) else b"t"


def pickled_by_torch(value):
    pickler = Pickler()
    pickler.value(value)
    return bytes(pickler.out) + b"."


class LongTrace:
    """A trace as `pickle.dumps` writes it (protocol 4): every text, list and mapping has a number;
    the frames of an event are a list of its own that names frames by theirs."""

    def __init__(self):
        self.numbers = {}
        self.count = 0

    def numbered(self, opcodes):
        self.count += 1
        return opcodes + b"\x94"

    def text(self, value):
        if value in self.numbers:
            return b"j" + self.numbers[value].to_bytes(4, "little")
        self.numbers[value] = self.count
        return self.numbered(b"\x8c" + bytes([len(value)]) + value.encode())

    def event(self, action, address, size, frames):
        out = self.numbered(b"}") + b"(" + self.text("action") + self.text(action)
        out += self.text("addr") + b"\x8a\x08" + address.to_bytes(8, "little")
        out += self.text("size") + b"J" + size.to_bytes(4, "little")
        return out + self.text("frames") + frames() + b"u"

    def begin(self):
        """What is before the events, and one that brings 40 frames; then these."""
        out = b"\x80\x04" + self.numbered(b"}") + b"(" + self.text("segments")
        out += self.numbered(b"]") + self.text("device_traces")
        out += self.numbered(b"]") + self.numbered(b"]") + b"("
        numbers = []

        def frames():
            out = self.numbered(b"]") + b"("
            for i in range(40):
                numbers.append(self.count)
                out += self.numbered(b"}") + b"(" + self.text("filename")
                out += self.text(f"/home/me/model_{i}.py") + self.text("line") + b"K" + bytes([i])
                out += self.text("name") + self.text(f"function_{i}") + b"u"
            return out + b"e"

        return out + self.event("alloc", BASE, MIB, frames), numbers


def write_large(path, size):
    """1000 blocks of 40 frames, allocated and freed until there are so many bytes."""
    trace = LongTrace()
    out, numbers = trace.begin()
    for action in ("free_requested", "free_completed"):
        out += trace.event(action, BASE, MIB, lambda: trace.numbered(b"]"))
    again = b""
    for i in range(1000):
        named = b"".join(b"j" + n.to_bytes(4, "little") for n in numbers[i % 30 :])

        def frames(named=named):
            return trace.numbered(b"]") + b"(" + named + b"e"

        for action in ("alloc", "free_requested", "free_completed"):
            again += trace.event(action, BASE + (i + 9) * MIB, MIB + i, frames)
    with open(path, "wb") as file:
        file.write(out)
        for _ in range(size // len(again)):
            file.write(again)
        file.write(b"eau.")


def main():
    if sys.argv[1:2] == ["--large"]:
        return write_large(sys.argv[2], int(sys.argv[3]))
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "data")
    for version in [(2, 0), (2, 1), (2, 3), (2, 6), (2, 9)]:
        name = ".".join(str(part) for part in version)
        (folder / f"torch-{name}.pickle").write_bytes(pickle.dumps(snapshot(version), 4))
    (folder / "cpp-2.1.pickle").write_bytes(pickled_by_torch(snapshot((2, 1))))
    (folder / "protocol-1.pickle").write_bytes(pickle.dumps(snapshot((2, 6)), 1))
    (folder / "torch-2.6.json").write_text(json.dumps(snapshot((2, 6))) + "\n")


if __name__ == "__main__":
    main()

#include <gmock/gmock.h>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/logs/files/pickle.h"
#include "stepwright/snapshot/read_snapshot.h"

namespace stepwright::snapshot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kMiB = 1 << 20;
constexpr const char* kForms[] = {"torch-2.0.pickle", "torch-2.1.pickle", "torch-2.3.pickle",
                                  "torch-2.6.pickle", "torch-2.9.pickle", "cpp-2.1.pickle",
                                  "torch-2.6.json",   "protocol-1.pickle"};

std::string fixture(const std::string& name) { return "tests/snapshot/data/" + name; }

AllocatorSnapshot read_text(std::string_view bytes) {
  logs::FileByteReader source(bytes, "s.pickle");
  return read_allocator_snapshot(source);
}

std::string refusal(std::string_view bytes) {
  try {
    read_text(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "no refusal";
}

// A run of tests/snapshot/make_snapshots.py.
TEST(ReadSnapshot, SaysTheSameOfEveryVersionOfTheFormat) {
  for (const char* form : kForms) {
    SCOPED_TRACE(form);
    const AllocatorSnapshot snapshot =
        read_allocator_snapshot(std::filesystem::path(fixture(form)));
    ASSERT_EQ(snapshot.devices.size(), 1U);
    const DeviceMemorySnapshot& recording = snapshot.devices.front();
    EXPECT_EQ(recording.events, 8);
    EXPECT_EQ(recording.bytes_before_first_event, 3000);
    EXPECT_EQ(recording.peak_bytes, 3000 + 3 * kMiB);
    EXPECT_EQ(recording.peak_event_index, 2);
    EXPECT_EQ(recording.reserved_bytes, 4 * kMiB);
    ASSERT_EQ(recording.failures.size(), 1U);
    EXPECT_EQ(recording.failures.front().bytes, 1 << 30);
    EXPECT_EQ(recording.failures.front().free_bytes, 100);
    std::vector<std::int64_t> bytes;
    for (const MemoryBlock& block : recording.at_peak) bytes.push_back(block.bytes);
    EXPECT_THAT(bytes, ElementsAre(3000, 2 * kMiB, kMiB));
    const auto frames_of = [&](std::size_t i) {
      return call_stack_frames_to_show(snapshot.stacks,
                                       static_cast<StackId>(recording.at_peak[i].what));
    };
    EXPECT_THAT(frames_of(0), ElementsAre("me/train.py:7 load"));
    EXPECT_THAT(frames_of(1), ElementsAre("model/mlp.py:31 forward", "me/train.py:88 train"));
    EXPECT_THAT(frames_of(2), ElementsAre("me/loss.py:12 cross_entropy", "me/train.py:90 train"));
  }
}

TEST(ReadSnapshot, HasTheSumOverTime) {
  const AllocatorSnapshot snapshot =
      read_allocator_snapshot(std::filesystem::path(fixture("torch-2.9.pickle")));
  std::vector<std::int64_t> bytes;
  for (const MemoryTimelinePoint& point : snapshot.devices.front().timeline)
    bytes.push_back(point.bytes);
  EXPECT_THAT(bytes, ElementsAre(3000, 3000 + 2 * kMiB, 3000 + 3 * kMiB, 3000 + kMiB, 3000 + kMiB,
                                 3000 + 3 * kMiB / 2, 3000 + 3 * kMiB / 2, 3000 + 3 * kMiB / 2));
}

TEST(ReadSnapshot, RefusesWhatIsCutShortWithItsByte) {
  const std::string whole = read_file_or_standard_input(fixture("torch-2.6.pickle"), 1 << 20);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("s.pickle: byte ")) << size;
  }
}

TEST(ReadSnapshot, RefusesOtherPicklesAndFiles) {
  const std::string protocol = "\x80\x02";
  EXPECT_THAT(refusal(protocol + "ctorch\nload\n."), HasSubstr("byte 3: opcode 0x63 does more"));
  EXPECT_THAT(refusal(protocol + "]."),
              HasSubstr("byte 3: is not a snapshot of torch.cuda.memory"));
  EXPECT_THAT(refusal(protocol + "}."), HasSubstr("'segments' and 'device_traces'"));
  EXPECT_THAT(refusal(protocol + std::string(500, '(')),
              HasSubstr("nested deeper than 100 levels"));
  EXPECT_THAT(refusal(protocol + std::string(150, ']') + std::string(149, 'a') + "."),
              HasSubstr("nested deeper than 100 levels"));
  EXPECT_THAT(refusal("{}"), HasSubstr("'segments' and 'device_traces'"));
  EXPECT_THAT(refusal(""), HasSubstr("s.pickle: is empty"));
  EXPECT_THAT(refusal("PK\x03\x04"), HasSubstr("byte 1: opcode 0x50"));
}

std::string text(const std::string& value) {
  return std::string("U") + static_cast<char>(value.size()) + value;
}
std::string snapshot_of(const std::string& segments, const std::string& trace) {
  return "\x80\x02}(" + text("segments") + "](" + segments + "e" + text("device_traces") + "](](" +
         trace + "eeu.";
}
std::string event(const std::string& fields) { return "}(" + fields + "u"; }

TEST(ReadSnapshot, SaysWhichEventIsWrong) {
  const std::string action = text("action") + text("alloc");
  EXPECT_THAT(refusal(snapshot_of("", event(action))), HasSubstr("an event without 'addr'"));
  EXPECT_THAT(refusal(snapshot_of("", event(action + text("addr") + "N"))),
              HasSubstr("'addr' must be a whole number"));
  EXPECT_THAT(refusal(snapshot_of(
                  "", event(action + text("addr") + "K\x01" + text("size") + "J\xff\xff\xff\xff"))),
              HasSubstr("'size' must be a whole number from 0 to 1099511627776, not -1"));
  EXPECT_THAT(refusal(snapshot_of("", event(text("addr") + "K\x01"))),
              HasSubstr("an event without 'action'"));
  EXPECT_THAT(refusal(snapshot_of("", event(action + action))), HasSubstr("is given twice"));
  EXPECT_THAT(refusal(snapshot_of(event(text("blocks") + "]"), "")),
              HasSubstr("a segment without 'total_size'"));
  EXPECT_THAT(refusal(snapshot_of("", "")), HasSubstr("no device has a block in use"));
}

TEST(ReadSnapshot, CountsEventsOfKindsThatItDoesNotKnow) {
  const std::string alloc =
      event(text("action") + text("alloc") + text("addr") + "K\x01" + text("size") + "K\x09");
  const AllocatorSnapshot snapshot =
      read_text(snapshot_of("", event(text("action") + text("teleport")) + alloc));
  EXPECT_EQ(snapshot.devices.front().peak_bytes, 9);
  EXPECT_EQ(snapshot.devices.front().peak_event_index, 1);
  EXPECT_EQ(snapshot.unknown_events.at("teleport"), 1);
}

/// Returns a trace in one list, in which each event has its own frames, as PyTorch's pickler writes
/// it.
std::string long_trace(int events) {
  std::string trace;
  for (int i = 0; i < events; ++i) {
    const bool frees = i % 2 == 1;
    trace += "}(" + text("action") + text(frees ? "free_requested" : "alloc") + text("addr") +
             "K\x07" + text("size") + "K\x09" + text("frames") + "](}(" + text("name") +
             text("f" + std::to_string(i % 3)) + "ueu";
  }
  return snapshot_of("", trace);
}

TEST(ReadSnapshot, HoldsNoEvents) {
  // 200,000 events of one list in 16 MB: a reader that kept them would need far more than 1 MiB.
  const std::string bytes = long_trace(200'000);
  logs::FileByteReader source(bytes, "s.pickle");
  logs::PickleReader pickle(source, std::size_t{1} << 20);
  std::int64_t events = 0;
  pickle.consume_mappings_with_key("action", [&](logs::PickleId, logs::PickleId) { ++events; });
  pickle.read_to_end();
  EXPECT_EQ(events, 200'000);
  const AllocatorSnapshot snapshot = read_text(bytes);
  EXPECT_EQ(snapshot.devices.front().events, 200'000);
  EXPECT_EQ(snapshot.devices.front().peak_bytes, 9);
  EXPECT_LE(snapshot.devices.front().timeline.size(), 256U);
}

TEST(ReadSnapshot, RefusesValuesThatTakeMoreThanItsBound) {
  const std::string many(100'000, 'N');
  logs::FileByteReader source("\x80\x02](" + many + "e.", "s.pickle");
  logs::PickleReader pickle(source, 100'000);
  EXPECT_THROW(pickle.read_to_end(), Error);
}

}  // namespace
}  // namespace stepwright::snapshot

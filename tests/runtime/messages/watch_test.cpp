#include "stepwright/runtime/messages/watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

namespace stepwright::testing {
namespace {

using ::testing::HasSubstr;

/// A store whose server can stop answering.
class StoppedStore : public c10d::HashStore {
 public:
  explicit StoppedStore(std::shared_future<void> goes_on) : goes_on_(std::move(goes_on)) {}
  c10::intrusive_ptr<Store> clone() override {
    return c10::intrusive_ptr<Store>::unsafe_reclaim_from_nonowning(this);
  }
  bool check(const std::vector<std::string>& keys) override {
    if (stopped) goes_on_.wait();
    return HashStore::check(keys);
  }
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override {
    if (stopped) goes_on_.wait();
    HashStore::set(key, value);
  }
  using HashStore::set;

  std::atomic<bool> stopped = false;

 private:
  std::shared_future<void> goes_on_;
};

/// The watch of a rank, with an end that the test records instead of ending the process.
class Watched {
 public:
  Watched(const c10::intrusive_ptr<StoppedStore>& store, std::int64_t rank)
      : watch_({.store = c10::make_intrusive<process_group::TimeLimitedStore>(
                    c10::intrusive_ptr<c10d::Store>(store),
                    process_group::TimeLimitedStore::StoreTimeLimits{std::chrono::seconds(60),
                                                                     "silent"}),
                .rank = rank,
                .size = 3,
                .timeout = std::chrono::seconds(1),
                .server = "rank 0"},
               [this](const std::string& message, int code) {
                 ended_.set_value(fmt::format("{} ({})", message, code));
               }) {}

  /// Waits for the watch to end; returns its message.
  std::string end() { return said_.get(); }
  [[nodiscard]] bool goes_on() const {
    return said_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
  }

 private:
  std::promise<std::string> ended_;
  std::future<std::string> said_ = ended_.get_future();
  runtime::RankWatch watch_;
};

/// No rank waits for it in a message; its silence is detected all the same.
TEST(Watch, ARankWithoutASignOfLifeIsNamed) {
  std::promise<void> goes_on;
  const auto store = c10::make_intrusive<StoppedStore>(goes_on.get_future().share());
  Watched zero(store, 0);
  Watched one(store, 1);
  {
    const Watched two(store, 2);
    std::this_thread::sleep_for(std::chrono::seconds(3));  // longer than it may be silent
    EXPECT_TRUE(zero.goes_on());
  }
  EXPECT_THAT(zero.end(),
              HasSubstr("rank 2 died or hangs: it does not answer; here: before step 1"));
  EXPECT_THAT(one.end(),
              HasSubstr("rank 2 died or hangs: it does not answer; here: before step 1"));
}

TEST(Watch, ARankThatLeftIsNotMissed) {
  std::promise<void> goes_on;
  const auto store = c10::make_intrusive<StoppedStore>(goes_on.get_future().share());
  Watched zero(store, 0);
  {
    const Watched two(store, 2);
  }
  store->HashStore::set(runtime::rank_done_key(2), std::vector<std::uint8_t>{});
  std::this_thread::sleep_for(std::chrono::seconds(3));
  EXPECT_TRUE(zero.goes_on());
}

TEST(Watch, AStoreThatDoesNotAnswerIsNamed) {
  std::promise<void> goes_on;
  const auto store = c10::make_intrusive<StoppedStore>(goes_on.get_future().share());
  {
    Watched one(store, 1);
    store->stopped = true;
    EXPECT_EQ(one.end(),
              "rank 0, which serves the ranks' store, died or hangs; here: before step 1, "
              "computing (1)");
  }
  goes_on.set_value();
}

}  // namespace
}  // namespace stepwright::testing

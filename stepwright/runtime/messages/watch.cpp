#include "stepwright/runtime/messages/watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"
#include "stepwright/process_group/store_text.h"

namespace stepwright::runtime {

using process_group::get_text_from_c10d_store;
using process_group::put_text_into_c10d_store;

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLook{200};
/// How long ranks that are alive have to post where they are.
constexpr std::chrono::seconds kHear{3};
/// How often a rank increments its number within the time that it may be silent.
constexpr std::int64_t kBeats = 10;
constexpr const char* kFailed = "watch/failed";
constexpr const char* kLeft = "done";  ///< Posted by a rank that has nothing left to do.

double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

std::string place_key(std::int64_t rank) { return fmt::format("watch/at/{}", rank); }
std::string heard_key(std::int64_t rank) { return fmt::format("watch/heard/{}", rank); }
std::string beat_key(std::int64_t rank) { return fmt::format("watch/beat/{}", rank); }

/// Waits until all keys are set or the time is over.
void wait_for_keys(c10d::Store& store, const std::vector<std::string>& keys) {
  const auto until = Clock::now() + kHear;
  while (!store.check(keys) && Clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Returns who is to blame, from the message of the first rank to fail and from where the others
/// are ("": no answer).
std::string blame(const nlohmann::json& first, const std::vector<std::string>& places) {
  const std::int64_t rank = first["rank"];
  const std::string why = first["why"];
  if (!first["lost"].get<bool>()) return fmt::format("rank {} failed: {}", rank, why);
  std::vector<std::string> silent;
  std::vector<std::string> busy;
  for (std::size_t r = 0; r < places.size(); ++r) {
    if (places[r] == kLeft) continue;
    if (places[r].empty()) silent.push_back(std::to_string(r));
    if (places[r].find("waiting") == std::string::npos && !places[r].empty()) {
      busy.push_back(fmt::format("rank {} ({})", r, places[r]));
    }
  }
  if (!silent.empty()) {
    return fmt::format("rank {} died or hangs: it does not answer", fmt::join(silent, ", rank "));
  }
  if (!busy.empty())
    return fmt::format("other ranks waited without success for {}", fmt::join(busy, ", "));
  return fmt::format("rank {} waited without success: {}", rank, why);
}

}  // namespace

RankWatch::RankWatch(const RankWatchSetup& world, End end)
    : world_(world),
      store_(world.store->clone(world.timeout)),
      ending_(world.store->clone(kHear)),
      pulses_(static_cast<std::size_t>(world.size)),
      end_(std::move(end)) {
  thread_ = std::thread([this] { look(); });
}

RankWatch::~RankWatch() { stop_watching_ranks(); }

void RankWatch::stop_watching_ranks() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
    stopped_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

RankWatch::WaitForRanksScope::WaitForRanksScope(RankWatch* watch, const std::string& what)
    : watch_(watch) {
  if (watch_ == nullptr) return;
  const std::scoped_lock lock(watch_->mutex_);
  watch_->waits_[std::this_thread::get_id()] = {what, now_s()};
}

RankWatch::WaitForRanksScope::~WaitForRanksScope() {
  if (watch_ == nullptr) return;
  const std::scoped_lock lock(watch_->mutex_);
  watch_->waits_.erase(std::this_thread::get_id());
}

std::string RankWatch::position() {
  const std::scoped_lock lock(mutex_);
  const std::pair<std::string, double>* longest = nullptr;
  for (const auto& [thread, wait] : waits_) {
    if (longest == nullptr || wait.second < longest->second) longest = &wait;
  }
  const std::string step = step_ > 0 ? fmt::format("step {}", step_.load()) : "before step 1";
  if (longest == nullptr) return step + ", computing";
  return fmt::format("{}, waiting {:.1f} s in {}", step, now_s() - longest->second, longest->first);
}

void RankWatch::look() {
  const std::int64_t between = std::max<std::int64_t>(1, world_.timeout / kBeats / kLook);
  std::unique_lock lock(mutex_);
  for (std::int64_t i = 0; !stopped_.wait_for(lock, kLook, [this] { return stops_; }); ++i) {
    lock.unlock();
    try {
      if (store_->check({kFailed})) return conclude("", false, 1);
      const std::string silent = i % between == 0 ? post_heartbeat_and_find_silent_rank() : "";
      if (!silent.empty()) return conclude(silent + " gives no sign of life", true, 1);
    } catch (const std::exception&) {
      return conclude("", true, 1);
    }
    lock.lock();
  }
}

std::string RankWatch::post_heartbeat_and_find_silent_rank() {
  store_->add(beat_key(world_.rank), 1);
  return world_.rank == 0 ? listen() : "";
}

/// Checks whether other ranks failed or fell silent. Time is counted in checks, so that ranks that
/// were all stopped and resumed together have missed none.
std::string RankWatch::listen() {
  for (std::int64_t r = 1; r < world_.size; ++r) {
    RankHeartbeat& pulse = pulses_[static_cast<std::size_t>(r)];
    const std::int64_t beats = store_->add(beat_key(r), 0);
    pulse.missed = beats == pulse.beats ? pulse.missed + 1 : 0;
    pulse.beats = beats;
    if (beats == 0 || pulse.missed <= kBeats || store_->check({rank_done_key(r)})) continue;
    return fmt::format("rank {}", r);
  }
  return {};
}

std::vector<std::string> RankWatch::positions() {
  std::vector<std::string> keys;
  for (std::int64_t r = 0; r < world_.size; ++r) keys.push_back(place_key(r));
  wait_for_keys(*ending_, keys);
  std::vector<std::string> places;
  for (std::int64_t r = 0; r < world_.size; ++r) {
    places.push_back(ending_->check({place_key(r)})
                         ? get_text_from_c10d_store(*ending_, place_key(r))
                     : ending_->check({rank_done_key(r)}) ? kLeft
                                                          : "");
  }
  return places;
}

void RankWatch::end_run_with_reason(const std::string& why, bool lost, int code) {
  conclude(why, lost, code);
}

void RankWatch::conclude(const std::string& why, bool lost, int code) {
  const std::string own = position();
  {
    std::unique_lock lock(mutex_);
    if (std::exchange(concluded_, true)) {
      stopped_.wait(lock, [] { return false; });  // another thread ends the process
    }
  }
  std::string message;
  try {
    const std::int64_t rank = world_.rank;
    put_text_into_c10d_store(*ending_, place_key(rank), own);
    const std::string first =
        nlohmann::json({{"rank", rank}, {"why", why}, {"lost", lost}, {"code", code}})
            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (!why.empty() && !ending_->check({kFailed}))
      put_text_into_c10d_store(*ending_, kFailed, first);
    const auto told = nlohmann::json::parse(get_text_from_c10d_store(*ending_, kFailed));
    const std::vector<std::string> places = positions();
    const bool mine = told["rank"] == rank && !told["lost"].get<bool>();
    if (why.empty()) code = told["code"];
    message = mine ? why : fmt::format("{}; here: {}", blame(told, places), own);
    put_text_into_c10d_store(*ending_, heard_key(rank), "");
    std::vector<std::string> heard;  // rank 0 serves the store, so it stays until the others know
    for (std::size_t r = 0; r < places.size(); ++r) {
      if (places[r].empty() || places[r] == kLeft) continue;
      heard.push_back(heard_key(static_cast<std::int64_t>(r)));
    }
    if (rank == 0) wait_for_keys(*ending_, heard);
  } catch (const std::exception&) {
    message = fmt::format("{}{}, which serves the ranks' store, died or hangs; here: {}",
                          lost || why.empty() ? "" : why + "; ", world_.server, own);
  }
  end_(message, code);
}

std::string rank_done_key(std::int64_t rank) { return fmt::format("watch/left/{}", rank); }

void wait_for_message(RankWatch* watch, const std::string& what, c10d::Work& message) {
  const RankWatch::WaitForRanksScope waiting(watch, what);
  try {
    message.wait();
  } catch (const std::exception& error) {
    const std::string_view text = error.what();
    const std::string why = fmt::format("{}: {}", what, text.substr(0, text.find('\n')));
    if (watch != nullptr) watch->end_run_with_reason(why, true, 1);
    throw Error(ErrorKind::kRuntime, why);
  }
}

}  // namespace stepwright::runtime

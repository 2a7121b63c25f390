#include "stepwright/runtime/messages/watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "stepwright/core/error.h"

namespace stepwright::runtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLook{200};
/// How long those that are alive have to say where they stand.
constexpr std::chrono::seconds kHear{3};
constexpr const char* kFailed = "watch/failed";

double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

std::string place_key(std::int64_t rank) { return fmt::format("watch/at/{}", rank); }
std::string heard_key(std::int64_t rank) { return fmt::format("watch/heard/{}", rank); }

void put(c10d::Store& store, const std::string& key, const std::string& text) {
  store.set(key, std::vector<std::uint8_t>(text.begin(), text.end()));
}

std::string take(c10d::Store& store, const std::string& key) {
  const std::vector<std::uint8_t> text = store.get(key);
  return {text.begin(), text.end()};
}

/// Waits for keys until they are all there or the time is over.
void wait_for_keys(c10d::Store& store, const std::vector<std::string>& keys) {
  const auto until = Clock::now() + kHear;
  while (!store.check(keys) && Clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Who is to blame, from what the first to fail said and where the others stand ("" for no answer).
std::string blame(const nlohmann::json& first, const std::vector<std::string>& places) {
  const std::int64_t rank = first["rank"];
  const std::string why = first["why"];
  if (!first["lost"].get<bool>()) return fmt::format("rank {} failed: {}", rank, why);
  std::vector<std::string> silent;
  std::vector<std::string> busy;
  for (std::size_t r = 0; r < places.size(); ++r) {
    if (places[r].empty()) silent.push_back(std::to_string(r));
    if (places[r].find("waiting") == std::string::npos && !places[r].empty()) {
      busy.push_back(fmt::format("rank {} ({})", r, places[r]));
    }
  }
  if (!silent.empty()) {
    return fmt::format("rank {} died or hangs: it does not answer", fmt::join(silent, ", rank "));
  }
  if (!busy.empty()) return fmt::format("others waited in vain for {}", fmt::join(busy, ", "));
  return fmt::format("rank {} waited in vain: {}", rank, why);
}

}  // namespace

Watch::Watch(const c10::intrusive_ptr<c10d::Store>& store, std::int64_t rank, std::int64_t size,
             End end)
    : store_(store->clone()), rank_(rank), size_(size), end_(std::move(end)) {
  thread_ = std::thread([this] { look(); });
}

Watch::~Watch() { stop(); }

void Watch::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
    stopped_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

Watch::Waiting::Waiting(Watch* watch, const std::string& what) : watch_(watch) {
  if (watch_ == nullptr) return;
  const std::scoped_lock lock(watch_->mutex_);
  watch_->waits_[std::this_thread::get_id()] = {what, now_s()};
}

Watch::Waiting::~Waiting() {
  if (watch_ == nullptr) return;
  const std::scoped_lock lock(watch_->mutex_);
  watch_->waits_.erase(std::this_thread::get_id());
}

std::string Watch::position() {
  const std::scoped_lock lock(mutex_);
  const std::pair<std::string, double>* longest = nullptr;
  for (const auto& [thread, wait] : waits_) {
    if (longest == nullptr || wait.second < longest->second) longest = &wait;
  }
  const std::string step = step_ > 0 ? fmt::format("step {}", step_.load()) : "before step 1";
  if (longest == nullptr) return step + ", computing";
  return fmt::format("{}, waiting {:.1f} s in {}", step, now_s() - longest->second, longest->first);
}

void Watch::look() {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, kLook, [this] { return stops_; })) {
    lock.unlock();
    try {
      if (store_->check({kFailed})) conclude("", false, 1);
    } catch (const std::exception&) {
      conclude("", true, 1);
    }
    lock.lock();
  }
}

std::vector<std::string> Watch::positions() {
  std::vector<std::string> keys;
  for (std::int64_t r = 0; r < size_; ++r) keys.push_back(place_key(r));
  wait_for_keys(*store_, keys);
  std::vector<std::string> places;
  for (const std::string& key : keys) {
    places.push_back(store_->check({key}) ? take(*store_, key) : "");
  }
  return places;
}

void Watch::give_up(const std::string& why, bool lost, int code) { conclude(why, lost, code); }

void Watch::conclude(const std::string& why, bool lost, int code) {
  const std::string own = position();
  {
    std::unique_lock lock(mutex_);
    if (std::exchange(concluded_, true)) {
      stopped_.wait(lock, [] { return false; });  // another thread ends the process
    }
  }
  std::string message;
  try {
    put(*store_, place_key(rank_), own);
    const std::string first =
        nlohmann::json({{"rank", rank_}, {"why", why}, {"lost", lost}, {"code", code}})
            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (!why.empty() && !store_->check({kFailed})) put(*store_, kFailed, first);
    const auto told = nlohmann::json::parse(take(*store_, kFailed));
    const std::vector<std::string> places = positions();
    const bool mine = told["rank"] == rank_ && !told["lost"].get<bool>();
    if (why.empty()) code = told["code"];
    message = mine ? why : fmt::format("{}; here: {}", blame(told, places), own);
    put(*store_, heard_key(rank_), "");
    std::vector<std::string> heard;  // rank 0 serves the store: it stays until the others know
    for (std::size_t r = 0; r < places.size(); ++r) {
      if (!places[r].empty()) heard.push_back(heard_key(static_cast<std::int64_t>(r)));
    }
    if (rank_ == 0) wait_for_keys(*store_, heard);
  } catch (const std::exception&) {
    message = fmt::format("{}rank 0, which serves the ranks' store, died or hangs; here: {}",
                          lost || why.empty() ? "" : why + "; ", own);
  }
  end_(message, code);
}

namespace {

/// Waits until a rank has put the key; `kRuntime` after the world's timeout.
void await(const Groups::World& world, const std::string& key, std::int64_t rank,
           const std::string& what) {
  const double timeout_s = std::chrono::duration<double>(world.timeout).count();
  const double until = now_s() + timeout_s;
  while (!world.store->check({key})) {
    if (now_s() > until) {
      throw Error(ErrorKind::kRuntime,
                  fmt::format("rank {} did not come to '{}' within {} s", rank, what, timeout_s));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

std::vector<std::string> exchange(const Groups::World& world, const std::string& key,
                                  const std::string& own) {
  const auto key_of = [&](std::int64_t r) { return fmt::format("exchange/{}/{}", key, r); };
  put(*world.store, key_of(world.rank), own);
  std::vector<std::string> texts;
  for (std::int64_t r = 0; r < world.size; ++r) {
    await(world, key_of(r), r, key);
    texts.push_back(take(*world.store, key_of(r)));
  }
  return texts;
}

void leave(const Groups::World& world) {
  if (world.watch != nullptr) world.watch->stop();
  const auto key_of = [](std::int64_t r) { return fmt::format("watch/left/{}", r); };
  put(*world.store, key_of(world.rank), "");
  if (world.rank != 0) return;
  for (std::int64_t r = 1; r < world.size; ++r) await(world, key_of(r), r, "the end of the run");
}

}  // namespace stepwright::runtime

#include "stepwright/process_group/bounded_store.h"

#include <optional>
#include <utility>

namespace stepwright::process_group {

TimeLimitedStore::TimeLimitedStore(Pointer store, StoreTimeLimits limits)
    : limits_(std::move(limits)), calls_(limits_.silent), store_(std::move(store)) {}

TimeLimitedStore::TimeLimitedStore(const std::function<Pointer()>& open, StoreTimeLimits limits)
    : TimeLimitedStore(Pointer(), std::move(limits)) {
  const auto opened = std::make_shared<Pointer>();
  calls_.call_within_time_limit(limits_.patience, [open, opened] { *opened = open(); });
  store_ = *opened;
}

template <class BoundedStoreOperation>
auto TimeLimitedStore::answer(std::chrono::milliseconds waits, BoundedStoreOperation act) {
  using Answer = decltype(act(*store_));
  const auto patience = limits_.patience + waits;
  if constexpr (std::is_void_v<Answer>) {
    calls_.call_within_time_limit(patience,
                                  [store = store_, act = std::move(act)] { act(*store); });
  } else {
    // The answer is shared, since a caller that timed out no longer exists when it is written.
    const auto told = std::make_shared<std::optional<Answer>>();
    calls_.call_within_time_limit(
        patience, [store = store_, act = std::move(act), told] { told->emplace(act(*store)); });
    return std::move(**told);
  }
}

TimeLimitedStore::Pointer TimeLimitedStore::clone() { return clone(limits_.patience); }

TimeLimitedStore::Pointer TimeLimitedStore::clone(std::chrono::milliseconds patience) {
  Pointer other = answer({}, [](Store& store) { return store.clone(); });
  return c10::make_intrusive<TimeLimitedStore>(std::move(other),
                                               StoreTimeLimits{patience, limits_.silent});
}

void TimeLimitedStore::set(const std::string& key, const std::vector<std::uint8_t>& value) {
  answer({}, [key, value](Store& store) { store.set(key, value); });
}

std::vector<std::uint8_t> TimeLimitedStore::compareSet(const std::string& key,
                                                       const std::vector<std::uint8_t>& expected,
                                                       const std::vector<std::uint8_t>& desired) {
  return answer({}, [key, expected, desired](Store& store) {
    return store.compareSet(key, expected, desired);
  });
}

std::vector<std::uint8_t> TimeLimitedStore::get(const std::string& key) {
  return answer(getTimeout(), [key](Store& store) { return store.get(key); });
}

std::int64_t TimeLimitedStore::add(const std::string& key, std::int64_t value) {
  return answer({}, [key, value](Store& store) { return store.add(key, value); });
}

bool TimeLimitedStore::deleteKey(const std::string& key) {
  return answer({}, [key](Store& store) { return store.deleteKey(key); });
}

bool TimeLimitedStore::check(const std::vector<std::string>& keys) {
  return answer({}, [keys](Store& store) { return store.check(keys); });
}

std::int64_t TimeLimitedStore::getNumKeys() {
  return answer({}, [](Store& store) { return store.getNumKeys(); });
}

void TimeLimitedStore::wait(const std::vector<std::string>& keys) { wait(keys, getTimeout()); }

void TimeLimitedStore::wait(const std::vector<std::string>& keys,
                            const std::chrono::milliseconds& timeout) {
  answer(timeout, [keys, timeout](Store& store) { store.wait(keys, timeout); });
}

void TimeLimitedStore::append(const std::string& key, const std::vector<std::uint8_t>& value) {
  answer({}, [key, value](Store& store) { store.append(key, value); });
}

std::vector<std::vector<std::uint8_t>> TimeLimitedStore::multiGet(
    const std::vector<std::string>& keys) {
  return answer(getTimeout(), [keys](Store& store) { return store.multiGet(keys); });
}

void TimeLimitedStore::multiSet(const std::vector<std::string>& keys,
                                const std::vector<std::vector<std::uint8_t>>& values) {
  answer({}, [keys, values](Store& store) { store.multiSet(keys, values); });
}

}  // namespace stepwright::process_group

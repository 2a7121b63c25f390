#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// Calls that are equal but for their lines and times.
struct EqualCalls {
  LogRecord first;
  std::uint32_t kind = 0;  ///< Number of the kind in `RecordList`.
  std::int64_t records = 0;
  std::int64_t calls = 0;  ///< Calls that the records stand for.
};

/// Calls in their order, a dozen bytes each and their times: what equal calls say is held once.
/// A record is made when it is asked for; what is changed in it has to be `set`.
class RecordList {
 public:
  [[nodiscard]] std::size_t size() const { return kinds_.size(); }
  [[nodiscard]] bool empty() const { return kinds_.empty(); }
  [[nodiscard]] LogRecord operator[](std::size_t i) const {
    LogRecord record = known_[kinds_[i]];
    record.line = lines_[i];
    if (timed()) times_[i].give(record);
    return record;
  }
  [[nodiscard]] LogRecord front() const { return (*this)[0]; }
  [[nodiscard]] LogRecord back() const { return (*this)[size() - 1]; }
  /// Calls of one number are equal but for their lines and times; less than `kinds`.
  [[nodiscard]] std::uint32_t kind(std::size_t i) const { return kinds_[i]; }
  [[nodiscard]] std::size_t kinds() const { return known_.size(); }
  /// The distinct calls, in the order of their first ones.
  [[nodiscard]] std::vector<EqualCalls> distinct() const;
  /// Whether any call has a time.
  [[nodiscard]] bool timed() const { return !times_.empty(); }

  void push_back(const LogRecord& record);
  void set(std::size_t i, const LogRecord& record);

  /// Changes what equal calls have in common, in all of them; `change` sees no lines and no times.
  template <typename Change>
  void change_kinds(const Change& change) {
    for (LogRecord& record : known_) change(record);
    numbers_.clear();
  }
  /// Applies a change to every call.
  template <typename Change>
  void change(const Change& change) {
    for (std::size_t i = 0; i < size(); ++i) {
      LogRecord record = (*this)[i];
      change(record);
      set(i, record);
    }
  }
  /// Takes calls out; `gone` is asked once for each, in order.
  template <typename Gone>
  void erase_if(const Gone& gone) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (gone((*this)[i])) continue;
      kinds_[kept] = kinds_[i];
      lines_[kept] = lines_[i];
      if (timed()) times_[kept] = times_[i];
      ++kept;
    }
    kinds_.resize(kept);
    lines_.resize(kept);
    if (timed()) times_.resize(kept);
  }

  class Iterator {
   public:
    Iterator(const RecordList& list, std::size_t at) : list_(&list), at_(at) {}
    LogRecord operator*() const { return (*list_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const RecordList* list_;
    std::size_t at_;
  };
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }

 private:
  struct Times {
    double enqueued_s = kNoTime;
    double start_s = kNoTime;
    double duration_s = kNoTime;
    double exposed_s = kNoTime;

    void give(LogRecord& record) const {
      record.enqueued_s = enqueued_s;
      record.start_s = start_s;
      record.duration_s = duration_s;
      record.exposed_s = exposed_s;
    }
  };

  /// The fields that equal calls have in common.
  using Said = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                          std::int32_t, std::int32_t, std::int32_t, LogOperation, std::uint8_t>;
  std::uint32_t kind_of(const LogRecord& record);
  void set_times(std::size_t i, const LogRecord& record);

  std::vector<std::uint32_t> kinds_;
  std::vector<std::int64_t> lines_;
  std::vector<Times> times_;  ///< Times of each record; empty while no call has times.
  std::vector<LogRecord> known_;
  std::map<Said, std::uint32_t> numbers_;  ///< Number of each kind; empty after kinds changed.
};

}  // namespace stepwright::logs

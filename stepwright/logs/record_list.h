#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "stepwright/logs/record.h"

namespace stepwright::logs {

/// Logged calls that are equal except for their lines and times: one of them, the index of their
/// kind, and how many there are.
struct EqualLoggedCalls {
  LoggedCall first;
  std::uint32_t kind = 0;  ///< Index of the kind; calls of one kind differ only in line and time.
  std::int64_t records = 0;
  /// Number of equal calls; a record of the log may stand for several.
  std::int64_t calls = 0;
};

/// A list of calls in order that needs about a dozen bytes for each call and its times: common
/// fields of equal calls are stored once. Records are built when they are read; `set` stores a
/// changed one.
class LoggedCallList {
 public:
  [[nodiscard]] std::size_t size() const { return kinds_.size(); }
  [[nodiscard]] bool empty() const { return kinds_.empty(); }
  [[nodiscard]] LoggedCall operator[](std::size_t i) const {
    LoggedCall record = known_[kinds_[i]];
    record.line = lines_[i];
    if (has_call_times()) times_[i].give(record);
    return record;
  }
  [[nodiscard]] LoggedCall front() const { return (*this)[0]; }
  [[nodiscard]] LoggedCall back() const { return (*this)[size() - 1]; }
  /// Returns the number of the kind of the i-th call, below `kinds`; calls of one kind differ only
  /// in their lines and times.
  [[nodiscard]] std::uint32_t call_kind_number(std::size_t i) const { return kinds_[i]; }
  [[nodiscard]] std::size_t kinds() const { return known_.size(); }
  /// Returns one entry for each kind of call, in the order in which they first occur.
  [[nodiscard]] std::vector<EqualLoggedCalls> distinct_calls() const;
  /// True if at least one call of the list has a time.
  [[nodiscard]] bool has_call_times() const { return !times_.empty(); }

  void push_back(const LoggedCall& record);
  void set(std::size_t i, const LoggedCall& record);

  /// Changes the common fields of all calls: calls `change` once for each kind of equal calls, with
  /// a record whose lines and times are not set.
  template <typename Change>
  void change_kinds(const Change& change) {
    for (LoggedCall& record : known_) change(record);
    numbers_.clear();
  }
  /// Calls `change` for every record and stores the result.
  template <typename Change>
  void change(const Change& change) {
    for (std::size_t i = 0; i < size(); ++i) {
      LoggedCall record = (*this)[i];
      change(record);
      set(i, record);
    }
  }
  /// Removes the calls for which `gone` returns true; `gone` is called once for each call, in
  /// order.
  template <typename Gone>
  void erase_if(const Gone& gone) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (gone((*this)[i])) continue;
      kinds_[kept] = kinds_[i];
      lines_[kept] = lines_[i];
      if (has_call_times()) times_[kept] = times_[i];
      ++kept;
    }
    kinds_.resize(kept);
    lines_.resize(kept);
    if (has_call_times()) times_.resize(kept);
  }

  class Iterator {
   public:
    Iterator(const LoggedCallList& list, std::size_t at) : list_(&list), at_(at) {}
    LoggedCall operator*() const { return (*list_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const LoggedCallList* list_;
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

    void give(LoggedCall& record) const {
      record.enqueued_s = enqueued_s;
      record.start_s = start_s;
      record.duration_s = duration_s;
      record.exposed_s = exposed_s;
    }
  };

  /// Values of the fields in which calls of one kind are equal (all but lines and times): the key
  /// of the kind.
  using Said = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                          std::int32_t, std::int32_t, std::int32_t, LoggedOperation, std::uint8_t>;
  std::uint32_t kind_of(const LoggedCall& record);
  void set_times(std::size_t i, const LoggedCall& record);

  std::vector<std::uint32_t> kinds_;
  std::vector<std::int64_t> lines_;
  /// Times of each call in the list; empty: no call has times.
  std::vector<Times> times_;
  std::vector<LoggedCall> known_;
  /// Index of each kind of calls, by the values of their common fields; empty after kinds were
  /// changed.
  std::map<Said, std::uint32_t> numbers_;
};

}  // namespace stepwright::logs

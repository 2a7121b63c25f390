#include "stepwright/logs/record_list.h"

#include <cmath>

namespace stepwright::logs {

std::uint32_t LoggedCallList::kind_of(const LoggedCall& record) {
  const Said said{record.rank,      record.payload_bytes, record.logged_bytes, record.peer,
                  record.count,     record.communicator,  record.source,       record.run,
                  record.operation, record.element_bytes};
  const auto [place, fresh] = numbers_.try_emplace(said, static_cast<std::uint32_t>(known_.size()));
  if (fresh) {
    known_.push_back(record);
    Times{}.give(known_.back());
  }
  return place->second;
}

std::vector<EqualLoggedCalls> LoggedCallList::distinct_calls() const {
  std::vector<EqualLoggedCalls> list;
  std::vector<std::size_t> places(kinds());
  for (std::size_t i = 0; i < size(); ++i) {
    std::size_t& place = places[call_kind_number(i)];  // counted from 1
    if (place == 0) {
      list.push_back({.first = (*this)[i], .kind = call_kind_number(i)});
      place = list.size();
    }
    ++list[place - 1].records;
  }
  for (EqualLoggedCalls& calls : list) calls.calls = calls.records * calls.first.count;
  return list;
}

void LoggedCallList::push_back(const LoggedCall& record) {
  kinds_.push_back(kind_of(record));
  lines_.push_back(record.line);
  if (has_call_times()) times_.emplace_back();
  set_times(size() - 1, record);
}

void LoggedCallList::set(std::size_t i, const LoggedCall& record) {
  kinds_[i] = kind_of(record);
  lines_[i] = record.line;
  set_times(i, record);
}

void LoggedCallList::set_times(std::size_t i, const LoggedCall& record) {
  const Times times{record.enqueued_s, record.start_s, record.duration_s, record.exposed_s};
  const bool none = std::isnan(times.enqueued_s) && std::isnan(times.start_s) &&
                    std::isnan(times.duration_s) && std::isnan(times.exposed_s);
  if (none && !has_call_times()) return;
  times_.resize(size());
  times_[i] = times;
}

}  // namespace stepwright::logs

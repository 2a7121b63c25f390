// What the planner uses of C++20's standard library and libc++ has only from version 15 on, for
// Emscripten 3.1 that comes with 13: included before every source of that build, and of no other.
// Numbers are read and written by fast_float and fmt.
#pragma once

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <functional>
#include <optional>
#include <ranges>
#include <vector>

static_assert(_LIBCPP_VERSION < 15000, "this libc++ needs no such file");

namespace std {

template <class Number>
  requires is_floating_point_v<Number>
from_chars_result from_chars(const char* first, const char* last, Number& number) {
  const auto [end, error] = fast_float::from_chars(first, last, number);
  return {end, error};
}

inline to_chars_result to_chars(char* first, char* last, double number) {
  const auto written = fmt::format_to_n(first, last - first, "{}", number);
  return {written.out,
          written.size > static_cast<size_t>(last - first) ? errc::value_too_large : errc()};
}

template <class Values>
strong_ordering order_of(const Values& a, const Values& b) {
  const auto [left, right] = mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (left == a.end() || right == b.end()) return a.size() <=> b.size();
  return *left < *right ? strong_ordering::less : strong_ordering::greater;
}
template <class T, size_t kSize>
strong_ordering operator<=>(const array<T, kSize>& a, const array<T, kSize>& b) {
  return order_of(a, b);
}
template <class T>
strong_ordering operator<=>(const vector<T>& a, const vector<T>& b) {
  return order_of(a, b);
}

template <class T>
  requires requires(const T& a) { strong_ordering(a <=> a); }
strong_ordering operator<=>(const optional<T>& a, const optional<T>& b) {
  if (a && b) return *a <=> *b;
  return a.has_value() <=> b.has_value();
}

namespace ranges {

/// `what` of elements as projections see them.
template <class What, class Projection>
auto projected_by(What& what, Projection& projection) {
  return [&](auto&&... elements) -> decltype(auto) {
    return std::invoke(what, std::invoke(projection, elements)...);
  };
}

template <class Iterator, class T, class P = identity>
Iterator find(Iterator first, Iterator last, const T& value, P p = {}) {
  return std::find_if(first, last, [&](auto&& x) { return std::invoke(p, x) == value; });
}
template <class R, class T, class P = identity>
auto find(R&& range, const T& value, P p = {}) {
  return ranges::find(ranges::begin(range), ranges::end(range), value, p);
}
template <class R, class Is, class P = identity>
auto find_if(R&& range, Is is, P p = {}) {
  return std::find_if(ranges::begin(range), ranges::end(range), projected_by(is, p));
}
template <class R, class Is>
auto find_if_not(R&& range, Is is) {
  return std::find_if_not(ranges::begin(range), ranges::end(range), is);
}
template <class R, class Are>
auto adjacent_find(R&& range, Are are) {
  return std::adjacent_find(ranges::begin(range), ranges::end(range), are);
}
template <class R, class Is, class P = identity>
bool any_of(R&& range, Is is, P p = {}) {
  return std::any_of(ranges::begin(range), ranges::end(range), projected_by(is, p));
}
template <class R, class Is, class P = identity>
bool all_of(R&& range, Is is, P p = {}) {
  return std::all_of(ranges::begin(range), ranges::end(range), projected_by(is, p));
}
template <class R, class Is, class P = identity>
bool none_of(R&& range, Is is, P p = {}) {
  return std::none_of(ranges::begin(range), ranges::end(range), projected_by(is, p));
}
template <class R, class Is, class P = identity>
auto count_if(R&& range, Is is, P p = {}) {
  return std::count_if(ranges::begin(range), ranges::end(range), projected_by(is, p));
}
template <class R, class T, class P = identity>
auto count(R&& range, const T& value, P p = {}) {
  return ranges::count_if(range, [&](auto&& x) { return std::invoke(p, x) == value; });
}
template <class R, class Before = less, class P = identity>
void sort(R&& range, Before before = {}, P p = {}) {
  std::sort(ranges::begin(range), ranges::end(range), projected_by(before, p));
}
template <class R, class Before = less, class P = identity>
void stable_sort(R&& range, Before before = {}, P p = {}) {
  std::stable_sort(ranges::begin(range), ranges::end(range), projected_by(before, p));
}
template <class R, class Out>
void copy(R&& range, Out out) {
  std::copy(ranges::begin(range), ranges::end(range), out);
}
template <class R, class Out>
void move(R&& range, Out out) {
  std::move(ranges::begin(range), ranges::end(range), out);
}
template <class R, class Out, class T>
void remove_copy(R&& range, Out out, const T& value) {
  std::remove_copy(ranges::begin(range), ranges::end(range), out, value);
}
template <class R, class Out, class Is>
void copy_if(R&& range, Out out, Is is) {
  std::copy_if(ranges::begin(range), ranges::end(range), out, is);
}
template <class R, class Do>
void for_each(R&& range, Do what) {
  std::for_each(ranges::begin(range), ranges::end(range), what);
}
template <class R, class Out, class Of>
void transform(R&& range, Out out, Of of) {
  std::transform(ranges::begin(range), ranges::end(range), out, of);
}
template <class R, class T>
void replace(R&& range, const T& old, const T& other) {
  std::replace(ranges::begin(range), ranges::end(range), old, other);
}
template <class A, class B, class Is = equal_to>
bool equal(A&& a, B&& b, Is is = {}) {
  return std::equal(ranges::begin(a), ranges::end(a), ranges::begin(b), ranges::end(b), is);
}
template <class R, class T, class Before = less, class P = identity>
auto lower_bound(R&& range, const T& value, Before before = {}, P p = {}) {
  return std::lower_bound(
      ranges::begin(range), ranges::end(range), value,
      [&](auto&& x, auto&& wanted) { return std::invoke(before, std::invoke(p, x), wanted); });
}
template <class R, class T, class Before = less, class P = identity>
auto upper_bound(R&& range, const T& value, Before before = {}, P p = {}) {
  return std::upper_bound(
      ranges::begin(range), ranges::end(range), value,
      [&](auto&& wanted, auto&& x) { return std::invoke(before, wanted, std::invoke(p, x)); });
}
template <class R, class Before = less, class P = identity>
auto min_element(R&& range, Before before = {}, P p = {}) {
  return std::min_element(ranges::begin(range), ranges::end(range), projected_by(before, p));
}
template <class R, class Before = less, class P = identity>
auto max_element(R&& range, Before before = {}, P p = {}) {
  return std::max_element(ranges::begin(range), ranges::end(range), projected_by(before, p));
}
template <class R>
auto min(R&& range) {
  return *ranges::min_element(range);
}
template <class R>
auto max(R&& range) {
  return *ranges::max_element(range);
}
template <class R>
auto unique(R&& range) {
  return subrange(std::unique(ranges::begin(range), ranges::end(range)), ranges::end(range));
}
struct Permuted {
  bool found;
};
template <class R>
Permuted next_permutation(R&& range) {
  return {std::next_permutation(ranges::begin(range), ranges::end(range))};
}

}  // namespace ranges
}  // namespace std

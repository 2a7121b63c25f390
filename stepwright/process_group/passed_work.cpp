#include "stepwright/process_group/passed_work.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/ivalue_inl.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>

namespace stepwright::process_group {

bool WrappedBackendWork::wait(std::chrono::milliseconds timeout) {
  std::string text;
  try {
    return inner_->wait(timeout);
  } catch (const std::exception& error) {
    text = error.what();
  }
  throw c10::DistBackendError({__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)},
                              "stepwright: " + text.substr(0, text.find('\n')) + explain_());
}

bool CombinedPendingWork::isCompleted() {
  return std::ranges::all_of(works_, [](const auto& work) { return work->isCompleted(); });
}

bool CombinedPendingWork::isSuccess() const {
  return std::ranges::all_of(works_, [](const auto& work) { return work->isSuccess(); });
}

std::exception_ptr CombinedPendingWork::exception() const {
  for (const auto& work : works_) {
    if (std::exception_ptr failure = work->exception()) return failure;
  }
  return nullptr;
}

void CombinedPendingWork::synchronize() {
  for (const auto& work : works_) work->synchronize();
}

bool CombinedPendingWork::wait(std::chrono::milliseconds timeout) {
  bool whole = true;
  for (const auto& work : works_) whole = work->wait(timeout) && whole;
  return whole;
}

void CombinedPendingWork::abort() {
  for (const auto& work : works_) work->abort();
}

c10::intrusive_ptr<c10::ivalue::Future> CombinedPendingWork::getFuture() {
  c10::List<c10::intrusive_ptr<c10::ivalue::Future>> parts(
      c10::FutureType::create(c10::ListType::create(c10::TensorType::get())));
  for (const auto& work : works_) parts.push_back(work->getFuture());
  return c10::collectAll(parts)->then(
      [outputs = outputs_](c10::ivalue::Future& all) {
        for (const c10::IValue& part : all.value().toListRef()) {
          const auto future = part.toFuture();
          if (future->hasError()) std::rethrow_exception(future->exception_ptr());
        }
        return c10::IValue(outputs);
      },
      c10::ListType::create(c10::TensorType::get()));
}

}  // namespace stepwright::process_group

#include <pybind11/chrono.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/version.h>

#include <algorithm>

#include "stepwright/core/named.h"
#include "stepwright/process_group/backend.h"
#include "stepwright/process_group/bounded_store.h"

namespace stepwright {
namespace {

namespace py = pybind11;
/// Operations for which an algorithm can be chosen, and the word for the wrapped backend.
constexpr Named<collective::CollectiveOperation> kChosen[] = {
    {collective::CollectiveOperation::kAllReduce, "all_reduce"},
    {collective::CollectiveOperation::kAllGather, "all_gather"},
    {collective::CollectiveOperation::kReduceScatter, "reduce_scatter"}};
constexpr const char* kWrapped = "gloo";

using BackendPointer = c10::intrusive_ptr<c10d::Backend>;

collective::CollectiveAlgorithm method_of(const std::string& word) {
  for (const auto& [method, name] : collective::kGeneratedCollectiveAlgorithmNames) {
    if (name == word) return method;
  }
  throw py::value_error("method: " + word + " is unknown");
}

collective::CollectiveOperation collective_of(const std::string& word) {
  for (const auto& [collective, name] : kChosen) {
    if (name == word) return collective;
  }
  throw py::value_error("operation: " + word + " is unknown");
}

/// Reads rows of (operation, most bytes, method or "gloo"), in order.
std::vector<process_group::CollectiveAlgorithmForSize> choices_of(const py::list& rows) {
  std::vector<process_group::CollectiveAlgorithmForSize> choices;
  for (const py::handle row : rows) {
    const auto [operation, most_bytes, word] =
        row.cast<std::tuple<std::string, double, std::string>>();
    process_group::CollectiveAlgorithmForSize& choice =
        choices.emplace_back(process_group::CollectiveAlgorithmForSize{collective_of(operation),
                                                                       most_bytes, std::nullopt});
    if (word != kWrapped) choice.method = method_of(word);
  }
  return choices;
}

using StorePointer = c10::intrusive_ptr<c10d::Store>;

/// Returns the store of a group, wrapped so that no call waits much longer than the group's own
/// timeout.
StorePointer bounded_store(const StorePointer& store, double timeout_s) {
  constexpr std::chrono::seconds kMore{3};
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(std::min(timeout_s, 1e9)));
  return c10::make_intrusive<process_group::TimeLimitedStore>(
      store, process_group::TimeLimitedStore::StoreTimeLimits{
                 timeout + kMore,
                 "stepwright: the group's store does not answer: whoever serves it (rank 0 or the "
                 "launcher) died or hangs"});
}

/// Makes the process group's backend. `settings` must have all keys of `Settings` in settings.py.
BackendPointer create(const c10::intrusive_ptr<c10d::Store>& store, const py::dict& settings,
                      const std::vector<BackendPointer>& wrapped,
                      const std::vector<BackendPointer>& lanes, process_group::SplitGroup split) {
  process_group::ProcessGroupSetup setup;
  setup.store = store;
  setup.rank = settings["rank"].cast<int>();
  setup.size = settings["size"].cast<int>();
  const auto seconds = std::chrono::duration<double>(settings["timeout_s"].cast<double>());
  setup.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(seconds);
  setup.global_ranks = settings["global_ranks"].cast<std::vector<std::int64_t>>();
  setup.tiers = settings["tiers"].cast<std::vector<std::int32_t>>();
  setup.min_bytes = settings["min_bytes"].cast<std::int64_t>();
  setup.engine.method = method_of(settings["method"].cast<std::string>());
  setup.engine.chunk_bytes = settings["chunk_bytes"].cast<std::int64_t>();
  setup.engine.segment_bytes = settings["segment_bytes"].cast<std::int64_t>();
  setup.engine.choices = choices_of(settings["choices"].cast<py::list>());
  setup.wrapped = wrapped.at(0);
  if (wrapped.size() > 1) setup.wrapped_cuda = wrapped[1];
  setup.lanes = lanes;
  const py::gil_scoped_release released;
  return c10::make_intrusive<process_group::StepwrightBackend>(std::move(setup), std::move(split));
}

py::dict report(const BackendPointer& backend) {
  const auto* own = dynamic_cast<const process_group::StepwrightBackend*>(backend.get());
  if (own == nullptr) throw py::type_error("not a group of the backend 'stepwright'");
  py::list calls;
  for (const auto& [key, count] : own->collective_call_counts()) {
    py::dict row;
    row["operation"] = key.first;
    row["wrapped_because"] = key.second;
    row["calls"] = count.calls;
    row["bytes"] = count.bytes;
    calls.append(row);
  }
  py::dict result;
  result["tiers"] = own->process_group_setup().tiers;
  result["method"] = std::string(
      name_of(collective::kCollectiveAlgorithmNames, own->process_group_setup().engine.method));
  result["min_bytes"] = own->process_group_setup().min_bytes;
  result["peak_scratch_bytes"] = own->peak_scratch_bytes();
  result["calls"] = calls;
  return result;
}

std::vector<std::string> methods() {
  std::vector<std::string> names;
  for (const auto& [method, name] : collective::kGeneratedCollectiveAlgorithmNames) {
    bool runs = true;
    for (const auto& [collective, word] : kChosen) {
      runs = runs && collective::own_process_group_supports_algorithm(method, collective);
    }
    if (runs) names.emplace_back(name);
  }
  return names;
}

}  // namespace
}  // namespace stepwright

PYBIND11_MODULE(_C, module) {
  module.attr("built_for") = TORCH_VERSION;
  module.def("bounded_store", &stepwright::bounded_store);
  module.def("create", &stepwright::create);
  module.def("report", &stepwright::report);
  module.def("methods", &stepwright::methods);
}

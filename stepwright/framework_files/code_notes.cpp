#include "stepwright/framework_files/code_notes.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stepwright/framework_files/fields.h"
#include "stepwright/plan/files/read_adapters.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMark = "# stepwright: ";

}  // namespace

std::string code_notes(const PlannedJob& planned, bool recomputes) {
  const Job& job = planned.job;
  const std::string form = job.optimizer == Optimizer::kMuon
                               ? fmt::format(", muon: {}", name_of(kMuonFormNames, job.muon))
                               : "";
  Json rest = Json::object();
  if (recomputes) rest[kRecomputes] = true;
  if (planned.plan.offload.moves_inputs()) rest[kMovesInputs] = true;
  write_training(rest, job);
  std::string parts;
  for (const auto& [key, value] : rest.items()) {
    parts += fmt::format(", {}: {}", key, value.dump());
  }
  return fmt::format(
      "# the training code does the rest:\n"
      "{}{{micro_batch: {}, micro_batches: {}, sequences: {}, length: {}, optimizer: {}{}{}}}\n",
      kMark, planned.plan.micro_batch, micro_batches(job, planned.plan), job.sequences, job.length,
      name_of(kOptimizerNames, job.optimizer), form, parts);
}

void read_code_notes(const SourceFile& file, Draft& draft) {
  const std::size_t at = file.text.find(kMark);
  if (at == std::string::npos) {
    draft.assume("micro_batch", "the file leaves it to the training code");
    return;
  }
  const std::size_t begin = at + kMark.size();
  const std::string line = file.text.substr(begin, file.text.find('\n', begin) - begin);
  const Document document =
      Document::parse("code: " + line, file.name + " (what the training code does)");
  const Node node = document.root().get("code");
  node.allow_only({"micro_batch", "micro_batches", "sequences", "length", "optimizer", "muon",
                   kRecomputes, kMovesInputs, "adapters", "frozen"});
  const Fields fields(node);
  draft.plan.micro_batch = fields.integer("micro_batch", 1);
  draft.micro_batches = fields.size("micro_batches");
  draft.sequences = fields.size("sequences");
  draft.length = fields.size("length");
  draft.optimizer = fields.choice("optimizer", kOptimizerNames, Optimizer::kAdamW);
  draft.muon = fields.choice("muon", kMuonFormNames, draft.muon);
  if (fields.flag(kRecomputes, false)) draft.plan.recompute.kind = RecomputeKind::kFull;
  if (fields.flag(kMovesInputs, false)) draft.plan.offload.move_inputs();
  draft.trained = Document::from(node.placed_tree(), document.name());
}

}  // namespace stepwright

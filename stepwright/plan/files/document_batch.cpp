#include "stepwright/plan/files/document_batch.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/name.h"
#include "stepwright/core/utf8.h"
#include "stepwright/packing/length_file.h"

namespace stepwright::plan {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLongestMedian = 1e12;
constexpr double kWidestSigma = 4;

LognormalDocumentLengths read_lognormal(DocumentNode node) {
  node.allow_only_keys({"median", "sigma"});
  const DocumentNode sigma = node.get("sigma");
  LognormalDocumentLengths read{.median = node.get("median").number(1, kLongestMedian),
                                .sigma = sigma.number(0, kWidestSigma)};
  if (read.sigma == 0) sigma.fail("must be above 0");
  return read;
}

void read_lengths(DocumentNode node, const std::filesystem::path& directory,
                  PackedDocumentBatch& batch) {
  node.allow_only_keys({"file", "histogram", "lognormal"});
  if (node.size() != 1) node.fail("must be one of file, histogram and lognormal");
  if (const auto file = node.find("file")) {
    batch.file = read_absolute_path(*file, directory);
    batch.lengths = packing::load_length_histogram(batch.file);
  }
  if (const auto histogram = node.find("histogram"))
    batch.lengths = packing::read_length_histogram(*histogram);
  if (const auto formula = node.find("lognormal")) {
    batch.lognormal = read_lognormal(*formula);
    batch.lengths =
        packing::lognormal_length_histogram(batch.lognormal->median, batch.lognormal->sigma);
  }
}

/// Reads a packing; a single word states only its kind.
packing::Packing read_packing(DocumentNode node) {
  packing::Packing packing;
  if (!node.is_mapping()) {
    packing.kind = node.choice(packing::kPackingKindNames);
    return packing;
  }
  node.allow_only_keys(
      {"kind", "order", "group", "masks", "pad_to", "too_long", "balance", "seed"});
  packing.kind = node.get("kind").choice(packing::kPackingKindNames);
  if (const auto given = node.find("order"))
    packing.order = given->choice(packing::kPackingOrderNames);
  if (const auto given = node.find("group")) packing.group = given->integer(0);
  if (const auto given = node.find("masks")) packing.masks = given->boolean();
  if (const auto given = node.find("pad_to"))
    packing.pad_to = given->choice(packing::kPaddingTargetNames);
  if (const auto given = node.find("too_long"))
    packing.too_long = given->choice(packing::kLongDocumentPolicyNames);
  if (const auto given = node.find("balance"))
    packing.balance = given->choice(packing::kSequenceDealingNames);
  if (const auto given = node.find("seed")) packing.seed = given->integer(0);
  return packing;
}

Json lengths_json(const PackedDocumentBatch& documents) {
  if (!documents.file.empty()) return {{"file", documents.file}};
  if (const auto& formula = documents.lognormal) {
    return {{"lognormal", {{"median", formula->median}, {"sigma", formula->sigma}}}};
  }
  Json list = Json::array();
  for (const auto& [length, count] : documents.lengths) list.push_back({length, count});
  return {{"histogram", list}};
}

}  // namespace

std::string read_absolute_path(DocumentNode node, const std::filesystem::path& directory) {
  const auto path =
      std::filesystem::absolute(directory / read_name(node, kLongestPath)).lexically_normal();
  if (!is_plain_file(path)) {
    node.fail(fmt::format("there is no file {}", one_line_printable_text(path.string())));
  }
  return path.string();
}

std::optional<PackedDocumentBatch> read_document_batch(DocumentNode batch, std::int64_t length,
                                                       const std::filesystem::path& directory,
                                                       const packing::Packing& unsaid) {
  const auto lengths = batch.find("lengths");
  const auto packing = batch.find("packing");
  if (!lengths && packing) packing->fail("needs batch.lengths: how long documents are");
  if (!lengths) return std::nullopt;
  PackedDocumentBatch read;
  read_lengths(*lengths, directory, read);
  read.packing = packing ? read_packing(*packing) : unsaid;
  try {
    read.packs = packing::packed_sequence_statistics(read.lengths, read.packing, length);
  } catch (const Error& error) {
    lengths->fail(error.what());
  }
  return read;
}

void write_document_batch(Json& batch, const PackedDocumentBatch& documents) {
  batch["lengths"] = lengths_json(documents);
  const packing::Packing& packing = documents.packing;
  Json written = {{"kind", name_of(packing::kPackingKindNames, packing.kind)}};
  if (packing.order != packing::PackingOrder{})
    written["order"] = name_of(packing::kPackingOrderNames, packing.order);
  if (packing.group > 0) written["group"] = packing.group;
  if (!packing.masks) written["masks"] = false;
  written["pad_to"] = name_of(packing::kPaddingTargetNames, packing.pad_to);
  written["too_long"] = name_of(packing::kLongDocumentPolicyNames, packing.too_long);
  written["balance"] = name_of(packing::kSequenceDealingNames, packing.balance);
  written["seed"] = packing.seed;
  batch["packing"] = std::move(written);
}

}  // namespace stepwright::plan

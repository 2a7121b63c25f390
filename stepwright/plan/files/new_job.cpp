#include "stepwright/plan/files/new_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/format.h"
#include "stepwright/core/named.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {
namespace {

template <class EnumNamedByWord, std::size_t kCount>
std::string words_of_table(const Named<EnumNamedByWord> (&table)[kCount]) {
  std::vector<std::string_view> words;
  for (const auto& entry : table) words.push_back(entry.name);
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Returns a line with one key and its value.
std::string key_line(std::string_view key, DocumentTree value) {
  return YamlJsonDocument::from_tree(DocumentTree::make_empty_mapping().set(key, std::move(value)),
                                     "job")
      .to_yaml();
}

std::string model_comment(const model::ModelArchitecture& model) {
  return fmt::format(
      "# {} parameters in {}. A name of `stepwright list models`, or the path of a\n"
      "# Hugging Face config.json or of its folder.\n",
      format_count(model::count_parameters(model)), count_with_noun(model.layers, "layer"));
}

std::string cluster_comment(const cluster::Cluster& cluster) {
  return fmt::format(
      "# {}: {} of {} {}. `stepwright list profiles` names others; docs/formats.md,\n"
      "# \"Cluster\", says how to describe your own.\n",
      count_with_noun(cluster.devices(), "GPU"), count_with_noun(cluster.nodes, "node"),
      cluster.devices_per_node, cluster.device.name);
}

std::string batch_comment(const NewJobValues& job) {
  if (job.trained != NewJobTrainingKind::kPretrain) {
    return fmt::format(
        "# Sequences of one step, over all GPUs: {}, each filled up to {} tokens. `lengths` and\n"
        "# `packing` (docs/formats.md, \"Batch\") say how long they really are, and how they are "
        "packed.\n",
        count_with_noun(job.sequences, "example"), format_count(job.length));
  }
  return fmt::format("# Sequences of one step, over all GPUs: {} tokens.\n",
                     format_count(job.sequences * job.length));
}

/// Writes which parameters are trained: all, or adapters beside frozen weights.
void set_trained(const NewJobValues& job, DocumentTree& mapping) {
  if (job.trained == NewJobTrainingKind::kPretrain) return;
  DocumentTree objective = DocumentTree::empty_flow_mapping();
  mapping.set("objective", objective.set("kind", "sft"));
  if (job.trained == NewJobTrainingKind::kFinetune) return;
  DocumentTree adapters = DocumentTree::empty_flow_mapping();
  adapters.set("rank", std::int64_t{16}).set("alpha", std::int64_t{32}).set("targets", "all");
  if (job.trained == NewJobTrainingKind::kQlora) adapters.set("base", "nf4");
  mapping.set("adapters", adapters);
}

/// Returns optional keys of a job, at their defaults or as examples, as comments.
std::string other_keys(const NewJobValues& job) {
  std::string text;
  if (job.framework.empty()) {
    text +=
        "# Plan only what this framework runs (`stepwright list frameworks`); by default `tune` "
        "chooses the\n# framework whose files start the fastest plan.\n"
        "# framework: megatron-core\n\n";
  }
  return text + fmt::format(
                    "# Type of the inputs of matrix products: {}.\n"
                    "# precision: bf16\n\n"
                    "# One of {}.\n"
                    "# optimizer: adam\n\n"
                    "# Plans fit in memory with this probability.\n"
                    "# objective: {{{}memory_confidence: 0.9}}\n\n"
                    "# What the search may choose; what is not named is free.\n"
                    "# search: {{tensor: [1, 2, 4, 8], recompute: [none, selective]}}\n",
                    words_of_table(kPrecisionNames), words_of_table(kOptimizerNames),
                    job.trained == NewJobTrainingKind::kPretrain ? "" : "kind: sft, ");
}

}  // namespace

DocumentTree new_job_file_tree(const NewJobValues& job) {
  DocumentTree batch = DocumentTree::empty_flow_mapping();
  batch.set("sequences", job.sequences).set("length", job.length);
  DocumentTree mapping = DocumentTree::make_empty_mapping();
  mapping.set("stepwright", "job/2").set("model", job.model).set("cluster", job.cluster);
  mapping.set("batch", batch);
  set_trained(job, mapping);
  if (!job.framework.empty()) mapping.set("framework", job.framework);
  return mapping;
}

std::string new_job_file_text(const NewJobValues& job, const std::string& name) {
  const DocumentTree mapping = new_job_file_tree(job);
  const auto said = [&](std::string_view key) { return key_line(key, *mapping.find(key)); };
  std::string text = fmt::format(
      "# What is trained, on which cluster, with which batch. Next:\n"
      "#   stepwright tune {0} -o plan.yaml            the plan to train with, and why\n"
      "#   stepwright tune {0} --report report.html    the same as a page of pictures\n"
      "# docs/formats.md, \"Job\", has every key.\n",
      name);
  text += said("stepwright");
  text += "\n" + model_comment(job.architecture) + said("model");
  text += "\n" + cluster_comment(job.described) + said("cluster");
  text += "\n" + batch_comment(job) + said("batch");
  if (mapping.find("objective") != nullptr) {
    text +=
        "\n# Finetuning: a trained model learns from examples with answers.\n" + said("objective");
  }
  if (mapping.find("adapters") != nullptr) {
    text +=
        "\n# Adapters alone are trained, beside weights that rest (docs/formats.md, "
        "\"Adapters\").\n" +
        said("adapters");
  }
  if (!job.framework.empty()) {
    text += "\n# Only plans that this framework runs (`stepwright list frameworks`).\n" +
            said("framework");
  }
  return text + "\n# The keys below have defaults; remove the leading `# ` to change one.\n\n" +
         other_keys(job);
}

}  // namespace stepwright::plan

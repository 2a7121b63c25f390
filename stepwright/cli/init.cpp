#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/logger.h"
#include "stepwright/cli/output.h"
#include "stepwright/cluster/catalog.h"
#include "stepwright/core/count.h"
#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/json_writer.h"
#include "stepwright/core/utf8.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/files.h"
#include "stepwright/plan/files/new_job.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::cli {
namespace {

namespace fs = std::filesystem;

/// Splits a text at the last occurrence of a character; the second part is empty if there is none.
std::pair<std::string, std::string> cut_at_last(const std::string& text, char mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::int64_t count_of_flag(const std::string& flag, const std::string& text) {
  const YamlJsonDocument document =
      YamlJsonDocument::from_tree(DocumentTree::make_scalar(text, false), flag);
  return read_batch_or_sequence_size(document.root(), 1, plan::kMaxPlanFileCount);
}

model::ModelArchitecture model_of_flag(const std::string& text) {
  const YamlJsonDocument document = YamlJsonDocument::from_tree(DocumentTree(text), "--model");
  return model::read_job_model(document.root(), {});
}

/// Converts a path relative to the current folder into one relative to another folder.
std::string path_from(const fs::path& path, const fs::path& folder) {
  const auto whole = [](const fs::path& any) { return fs::absolute(any).lexically_normal(); };
  return whole(path).lexically_proximate(whole(folder.empty() ? "." : folder)).string();
}

/// A value that the job needs, given by a flag or asked from a person.
struct Question {
  const char* flag;
  const char* words;  ///< Question to show to a person.
  std::string* answer;
  std::function<void()> check;  ///< Reads the answer; fails if it is not valid for a job.
  bool open = false;            ///< True if the answer may be empty.
};

class Init : public Subcommand {
 public:
  explicit Init(CLI::App& program)
      : Subcommand(program, "init", "Write a job file with comments to go on from",
                   "  stepwright init --model llama-3-70b --cluster dgx-h100 --gpus 64 --batch "
                   "512x8192 -o job.yaml\n"
                   "  stepwright init --model path/to/config.json --cluster dgx-h100:8 --batch 512 "
                   "--length 8192\n"
                   "  stepwright init -o job.yaml") {
    reads(app().add_option(
              "--model", model_,
              "A built-in model (stepwright list models) or its id at Hugging Face, the\n"
              "path of a config.json, or a folder that holds one"))
        ->type_name("NAME");
    reads(app().add_option("--cluster", cluster_,
                           "Profile (stepwright list profiles), also as PROFILE:NODES, or a file"))
        ->type_name("NAME");
    app().add_option("--gpus", gpus_, "GPUs to train on, of all nodes")->type_name("N");
    app()
        .add_option("--batch", batch_,
                    "Sequences of one step over all GPUs, also as SEQUENCESxLENGTH")
        ->type_name("N");
    app().add_option("--length", length_, "Tokens of a sequence")->type_name("N");
    app()
        .add_option("--framework", framework_,
                    "Plan only what this framework runs (stepwright list frameworks); by default "
                    "tune\nchooses the framework that starts the fastest plan")
        ->type_name("NAME");
    app()
        .add_option(
            "--train", train_,
            "What is trained: pretrain (a model from its start), finetune (all weights of a\n"
            "trained model), lora (adapters) or qlora (adapters, base in four bits)")
        ->type_name("KIND");
    mark_option_as_output(app().add_option("-o,--output", output_, "Write the job to this file"))
        ->type_name("JOB");
    app().add_flag("--force", force_, "Replace the file if it exists");
  }

  void run_subcommand(const Console& console) override {
    check_free();
    split();
    settle(console);
    const plan::NewJobValues job = new_job();
    const YamlJsonDocument document =
        YamlJsonDocument::from_tree(plan::new_job_file_tree(job), "init");
    static_cast<void>(plan::read_job(document, folder()));
    const std::string text = plan::new_job_file_text(job, output_.empty() ? "job.yaml" : output_);
    if (!output_.empty()) {
      write_file(output_, [&](std::ostream& out) { out << text; });
      console.log.info(
          fmt::format("wrote the job to {}; next: stepwright tune {}", output_, output_));
    }
    if (wants_json_output()) {
      print_json(console.out, {{"job", json_from_tree(document.root().copy_tree())}});
    } else if (output_.empty()) {
      console.out << text;
    }
  }

 private:
  void check_free() const {
    if (!output_.empty() && !force_ && is_plain_file(output_)) {
      fail_input(fmt::format("{}: exists already; --force replaces it", output_));
    }
  }

  /// Splits values that contain two: nodes from `--cluster NAME:N`, the length from `--batch NxL`.
  void split() {
    if (const auto [profile, nodes] = cut_at_last(cluster_, ':'); !nodes.empty()) {
      if (!gpus_.empty())
        fail_input("--gpus and --cluster both state the number of devices: give only one");
      nodes_ = nodes;
      cluster_ = profile;
    }
    if (const auto [sequences, length] = cut_at_last(batch_, 'x'); !length.empty()) {
      if (!length_.empty())
        fail_input("--length and --batch both state the length of a sequence: give only one");
      batch_ = sequences;
      length_ = length;
    }
  }

  /// Asks for values that no flag gives, and checks each answer at once.
  void settle(const Console& console) {
    const std::vector<Question> all = questions();
    std::vector<std::string_view> open;
    for (const Question& question : all) {
      if (question.answer->empty() && !question.open) open.emplace_back(question.flag);
    }
    if (!open.empty() && console.keyboard == nullptr) {
      fail_input(fmt::format(
          "init needs {}: it asks for missing options only on a terminal (stepwright init --help)",
          fmt::join(open, ", ")));
    }
    for (const Question& question : all) {
      const bool asks = question.answer->empty() && console.keyboard != nullptr;
      asks ? ask(question, console) : question.check();
    }
  }

  std::vector<Question> questions() {
    std::vector<Question> all = {
        {"--model", "Model (built-in name, config.json or its folder)", &model_,
         [this] { check_model(); }},
        {"--cluster", "Cluster (a profile as dgx-h100; stepwright list profiles)", &cluster_,
         [this] { check_cluster(); }},
        {"--gpus", "GPUs in all", &gpus_, [this] { read_machine("--gpus", "devices", gpus_); }},
        {"--batch", "Sequences of one step, over all GPUs", &batch_,
         [this] { sequences_ = count_of_flag("--batch", batch_); }},
        {"--length", "Tokens of a sequence", &length_,
         [this] { tokens_ = count_of_flag("--length", length_); }},
        {"--train", "What is trained (pretrain, finetune, lora, qlora; nothing: pretrain)", &train_,
         [this] { check_train(); }, true},
        {"--framework", "Framework (as megatron-core; nothing: the one with the fastest plan)",
         &framework_, [this] { check_framework(); }, true}};
    if (!nodes_.empty()) std::erase_if(all, [&](const Question& q) { return q.answer == &gpus_; });
    return all;
  }

  /// Asks until the answer is valid for a job.
  static void ask(const Question& question, const Console& console) {
    for (;;) {
      *console.terminal << question.words << ": " << std::flush;
      if (!std::getline(*console.keyboard, *question.answer)) {
        fail_input(fmt::format("{} was not answered", question.flag));
      }
      try {
        return question.check();
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kRuntime) throw;
        *console.terminal << terminal_safe_text(error.what()) << '\n';
      }
    }
  }

  void check_model() {
    const auto meant = model::built_in_model_of_hub_id(model_);
    if (meant && !path_exists(model_)) model_ = *meant;
    architecture_ = model_of_flag(model_);
  }

  void check_train() {
    if (train_.empty()) return;
    const YamlJsonDocument document = YamlJsonDocument::from_tree(DocumentTree(train_), "--train");
    trained_ = document.root().choice(plan::kNewJobTrainingNames);
  }

  void check_framework() {
    if (framework_.empty()) return;
    const auto words = plan::framework_field_words();
    if (std::ranges::find(words, framework_) != words.end()) return;
    const YamlJsonDocument document =
        YamlJsonDocument::from_tree(DocumentTree(framework_), "--framework");
    plan::fail_unknown_word(document.root(), plan::kFrameworkNames);
  }

  void check_cluster() {
    machine_ = cluster::load_cluster(cluster_, 1);
    if (!nodes_.empty()) read_machine("--cluster", "nodes", nodes_);
  }

  /// Reads the cluster with as many nodes or devices as a flag says.
  void read_machine(const char* flag, const char* key, const std::string& count) {
    DocumentTree cluster = DocumentTree::empty_flow_mapping();
    cluster.set("profile", cluster_).set(key, count_of_flag(flag, count));
    const YamlJsonDocument document = YamlJsonDocument::from_tree(cluster, flag);
    machine_ = cluster::read_job_cluster(document.root(), {});
  }

  /// Returns the name by which the job's file refers to a model or cluster.
  [[nodiscard]] std::string named(const std::string& text, bool built_in) const {
    return built_in || output_.empty() ? text : path_from(text, folder());
  }

  [[nodiscard]] DocumentTree cluster_mapping() const {
    const bool known = cluster::built_in_cluster(cluster_, 1).has_value();
    const std::int64_t node = cluster::load_cluster(cluster_, 1).devices_per_node;
    const bool whole = machine_.devices() % node == 0;
    DocumentTree cluster = DocumentTree::empty_flow_mapping();
    cluster.set("profile", named(cluster_, known));
    return cluster.set(whole ? "nodes" : "devices", machine_.devices() / (whole ? node : 1));
  }

  [[nodiscard]] plan::NewJobValues new_job() const {
    return {.model = named(model_, model::built_in_model(model_).has_value()),
            .architecture = architecture_,
            .cluster = cluster_mapping(),
            .described = machine_,
            .sequences = sequences_,
            .length = tokens_,
            .framework = framework_,
            .trained = trained_};
  }

  [[nodiscard]] fs::path folder() const { return fs::path(output_).parent_path(); }

  std::string model_, cluster_, nodes_, gpus_, batch_, length_, framework_, train_, output_;
  plan::NewJobTrainingKind trained_ = plan::NewJobTrainingKind::kPretrain;
  bool force_ = false;
  model::ModelArchitecture architecture_;
  cluster::Cluster machine_;
  std::int64_t sequences_ = 0;
  std::int64_t tokens_ = 0;
};

}  // namespace

std::unique_ptr<Subcommand> init_command(CLI::App& program) {
  return std::make_unique<Init>(program);
}

}  // namespace stepwright::cli

#include "stepwright/framework_files/megatron/deepspeed_fields.h"
#include "stepwright/framework_files/megatron/rules.h"

namespace stepwright::framework_files {
namespace {

void read_offload(const FrameworkSettingsReader& fields, const KnownJobFacts& /*known*/,
                  SettingRuleReadResult& reading) {
  plan::HostOffload& offload = reading.plan.offload;
  const auto modules = fields.find("offload_modules");
  if (modules && fields.flag("fine_grained_activation_offloading", false)) {
    const std::size_t count = modules->is_sequence() ? modules->size() : 1;
    for (std::size_t i = 0; i < count; ++i) {
      const DocumentNode word = modules->is_sequence() ? modules->at(i) : *modules;
      offload.activations.add(word.choice(plan::kOffloadModuleNames));
    }
  }
  if (!fields.flag("optimizer_cpu_offload", false)) return;
  const auto share = fields.find("optimizer_offload_fraction");
  offload.optimizer = share ? share->number(0, 1) : 1;
  // DeepSpeed's optimizer on the host updates master copies that are there, too.
  offload.masters =
      fields.flag("use_precision_aware_optimizer", false) || is_megatron_deepspeed(fields);
}

/// Writes offloading. Without the precision-aware optimizer, master weights stay on the device:
/// fp32 shards are the parameters of the hybrid optimizer, which copies them
/// (megatron/core/optimizer/distrib_optimizer.py).
void write_offload(const plan::PlannedJob& planned, std::string_view /*release*/,
                   DocumentTree& fields) {
  const plan::HostOffload& offload = planned.plan.offload;
  if (!offload.activations.empty()) {
    fields.set("fine_grained_activation_offloading", true);
    fields.set("offload_modules", DocumentTree::empty_flow_sequence(
                                      plan::offloaded_activation_kind_names(offload.activations)));
  }
  if (offload.optimizer == 0) return;
  fields.set("optimizer_cpu_offload", true);
  fields.set("optimizer_offload_fraction", offload.optimizer);
  if (offload.masters) fields.set("use_precision_aware_optimizer", true);
}

}  // namespace

constinit const SettingTranslationRule kOffload{.read = read_offload, .write = write_offload};

}  // namespace stepwright::framework_files

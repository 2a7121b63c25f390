#include <fmt/format.h>

#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

/// Returns "-x NAME" for each variable that is set.
std::string forwarded(const std::vector<EnvironmentSetting>& settings) {
  std::string text = "-x MASTER_ADDR -x MASTER_PORT";
  for (const EnvironmentSetting& setting : settings) {
    if (!setting.value.empty()) text += " -x " + setting.name;
  }
  return text;
}

}  // namespace

std::string write_torchrun(const plan::PlannedJob& planned,
                           const std::vector<std::string>& header) {
  return torchrun_script_head(planned, header,
                              environment_shell_lines(needed_environment_settings(planned))) +
         torchrun_command_lines() + "  \"$@\"\n";
}

std::string write_slurm(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  const cluster::Cluster& cluster = planned.job.cluster;
  return fmt::format(
      "#!/usr/bin/env bash\n"
      "#SBATCH --nodes={0}\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node={1}\n"
      "#SBATCH --distribution=block\n{2}set -euo pipefail\n\n{3}"
      "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
      "export MASTER_ADDR\n\n"
      "# ranks go node by node: SLURM_NODEID is the rank of the node\n"
      "srun --kill-on-bad-exit=1 bash -c 'exec torchrun --nnodes {0} --nproc-per-node {1} \\\n"
      "  --node-rank \"$SLURM_NODEID\" --master-addr \"$MASTER_ADDR\" --master-port 29500 "
      "\"$@\"' _ \"$@\"\n",
      cluster.nodes, cluster.devices_per_node, shell_comment_lines(header),
      environment_shell_lines(needed_environment_settings(planned)));
}

std::string write_mpirun(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  const cluster::Cluster& cluster = planned.job.cluster;
  const std::vector<EnvironmentSetting> settings = needed_environment_settings(planned);
  return fmt::format(
      "#!/usr/bin/env bash\n{}set -euo pipefail\n\n{}"
      "export MASTER_ADDR=${{MASTER_ADDR:-localhost}} MASTER_PORT=${{MASTER_PORT:-29500}}\n\n"
      "# ranks go node by node; HOSTFILE names the nodes in their order\n"
      "mpirun -np {} --map-by ppr:{}:node --bind-to none ${{HOSTFILE:+--hostfile "
      "\"$HOSTFILE\"}} \\\n  {} \\\n"
      "  bash -c 'export RANK=$OMPI_COMM_WORLD_RANK WORLD_SIZE=$OMPI_COMM_WORLD_SIZE\n"
      "    export LOCAL_RANK=$OMPI_COMM_WORLD_LOCAL_RANK "
      "LOCAL_WORLD_SIZE=$OMPI_COMM_WORLD_LOCAL_SIZE\n"
      "    exec \"$@\"' _ \"$@\"\n",
      shell_comment_lines(header), environment_shell_lines(settings), cluster.devices(),
      cluster.devices_per_node, forwarded(settings));
}

}  // namespace stepwright::framework_files

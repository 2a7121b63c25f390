#include "stepwright/simulate/efficiency.h"

#include "stepwright/model/flops.h"

namespace stepwright {

Efficiency efficiency(const Job& job, double step_time_s) {
  const double step_flops = training_flops_per_token(job.model, job.length) * job.tokens();
  Efficiency used;
  used.flops_per_s = step_flops / (step_time_s * static_cast<double>(job.cluster.devices()));
  used.peak_flops = job.cluster.device.peak_flops.at(job.precision);
  used.mfu = used.flops_per_s / used.peak_flops;
  return used;
}

}  // namespace stepwright

#pragma once

#include <memory>

#include "stepwright/simulate/price/block_store.h"
#include "stepwright/simulate/price/schedule_store.h"

namespace stepwright::simulate {

/// Caches that all pricers of one job and cost model may share, on any number of threads.
struct SharedPricerCaches {
  std::shared_ptr<ModelBlockCostCache> blocks = std::make_shared<ModelBlockCostCache>();
  std::shared_ptr<SimulatedScheduleCache> schedules = std::make_shared<SimulatedScheduleCache>();
};

}  // namespace stepwright::simulate

#pragma once

#include <memory>

#include "stepwright/simulate/price/block_store.h"
#include "stepwright/simulate/price/schedule_store.h"

namespace stepwright::simulate {

/// Caches that all pricers of one job and cost model may share, on any number of threads.
struct PriceStore {
  std::shared_ptr<BlockStore> blocks = std::make_shared<BlockStore>();
  std::shared_ptr<ScheduleStore> schedules = std::make_shared<ScheduleStore>();
};

}  // namespace stepwright::simulate

#include "stepwright/cost/laws/expert_exchange.h"

#include <cmath>

namespace stepwright::cost {
namespace {

/// Constants of one direction, dispatch or combine.
struct ExchangeLaw {
  double start_us = 0;
  double sent_ps = 0;  ///< Picoseconds of a multiprocessor for each byte sent to a rank.
  double read_ps = 0;  ///< Picoseconds of a multiprocessor for each byte of its own rows.
  double row_ns = 0;   ///< Nanoseconds of a multiprocessor for each row sent to a rank.
  double link_share = 0;
  double power = 0;  ///< The exponent q of the law.
};
constexpr ExchangeLaw kDispatch{33, 20.1, 77.4, 128, 0.724, 4.25};
constexpr ExchangeLaw kCombine{53, 24.5, 119.6, 32.7, 0.700, 6.89};

}  // namespace

double deepep_exchange_s(const DeepEpExchange& exchange, double link_bytes_per_s) {
  const ExchangeLaw& law = exchange.combines ? kCombine : kDispatch;
  const double own = exchange.tokens * exchange.width * exchange.bytes;
  const double met = exchange.met_ranks;
  const double copy_s = (1e-12 * own * (met * law.sent_ps + law.read_ps) +
                         1e-9 * exchange.tokens * met * law.row_ns) /
                        static_cast<double>(exchange.multiprocessors);
  const auto ranks = static_cast<double>(exchange.ranks);
  const double link_s = own * met * (ranks - 1) / ranks / (law.link_share * link_bytes_per_s);
  const double both = std::pow(copy_s, law.power) + std::pow(link_s, law.power);
  return 1e-6 * law.start_us + std::pow(both, 1 / law.power);
}

}  // namespace stepwright::cost

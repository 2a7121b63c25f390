#include "stepwright/collective/closed_form.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stepwright/collective/wire.h"

namespace stepwright {
namespace {

constexpr std::int32_t kMostChunks = 256;

/// A message of a block's chunk over one link: seconds that it keeps its ends busy, and latency.
struct Hop {
  double bytes_s = 0;
  double latency_s = 0;
};

/// `stages` hops one after the other, each of C chunks in order: a link is never used twice at a
/// time, and a chunk goes on when it has arrived.
double chunked_chain(double stages, double chunks, const Hop& hop) {
  if (stages <= 0) return 0;
  if (chunks * hop.bytes_s >= hop.bytes_s + hop.latency_s) {
    return stages * chunks * hop.bytes_s + hop.latency_s;
  }
  return stages * (hop.bytes_s + hop.latency_s) + (chunks - 1) * hop.bytes_s;
}

bool both_ways(Collective collective) { return collective == Collective::kAllReduce; }

/// What all formulas of a spec share.
struct Terms {
  Terms(const ScheduleSpec& spec, const GroupLinks& links, double payload_bytes)
      : members(links.members),
        nodes(links.nodes),
        ranks(members * nodes),
        chunks(spec.chunks),
        passes(both_ways(spec.collective) ? 2 : 1),
        payload(payload_bytes),
        block(payload_bytes / ranks),
        start_s(links.message_s),
        inside{start_s + block / chunks * links.inside_s_per_byte, links.inside_latency_s},
        rail{start_s + block / chunks * links.rail_s_per_byte, links.network_latency_s},
        lone{start_s + block / chunks * links.lone_s_per_byte, links.network_latency_s} {}

  /// The seconds of a message of `blocks` chunks in place of one.
  [[nodiscard]] double run_s(const Hop& hop, double blocks) const {
    return start_s + blocks * (hop.bytes_s - start_s);
  }

  double members;
  double nodes;
  double ranks;
  double chunks;
  double passes;  ///< An all-reduce goes twice.
  double payload;
  double block;
  double start_s;  ///< Of a message.
  Hop inside;
  Hop rail;
  Hop lone;
};

double ring_s(const Terms& t) {
  const double stages = t.passes * (t.ranks - 1);
  if (t.nodes == 1) return chunked_chain(stages, t.chunks, t.inside);
  if (t.members == 1) return chunked_chain(stages, t.chunks, t.lone);
  const bool lone_slower = t.lone.bytes_s >= t.inside.bytes_s;
  const Hop& slow = lone_slower ? t.lone : t.inside;
  const double paced = stages * t.chunks * slow.bytes_s + slow.latency_s;
  const double rounds = std::floor(stages / t.ranks);
  const double outside = rounds * t.nodes + std::ceil((stages - rounds * t.ranks) / t.members);
  const double chain = outside * (t.lone.bytes_s + t.lone.latency_s) +
                       (stages - outside) * (t.inside.bytes_s + t.inside.latency_s) +
                       (t.chunks - 1) * slow.bytes_s;
  return std::max(paced, chain);
}

/// One chunk of a group's blocks among its members.
double pass_s(const Terms& t, Inner inner) {
  if (t.members == 1) return 0;
  const double bytes_s = (t.members - 1) * t.inside.bytes_s;
  return inner == Inner::kDirect ? bytes_s : bytes_s + (t.members - 2) * t.inside.latency_s;
}

double end_latency(const Terms& t) { return t.members > 1 ? t.inside.latency_s : 0; }

/// The longest of the ways through a gather: the rail, then the last chunk inside; or the rail up
/// to the second or the last stage, then all that is left inside.
double ho_gather_s(const Terms& t, double pass) {
  const double stage = t.chunks * pass;
  const double hop = t.rail.bytes_s + t.rail.latency_s;
  const double pace = std::max(t.chunks * t.rail.bytes_s, hop);
  const double rail = chunked_chain(t.nodes - 1, t.chunks, t.rail);
  const double from_second = std::max(stage, hop) + (t.nodes - 1) * stage;
  const double from_last = (t.nodes - 2) * pace + hop + stage;
  return std::max({rail + pass, from_second, from_last}) + end_latency(t);
}

/// When the first chunk of stage `stage` is summed inside: the first two stages go by chunks.
double first_sum_s(const Terms& t, double pass, double stage) {
  return (stage < 2 ? 2 : stage * t.chunks + 1) * pass + end_latency(t);
}

/// From the start of the last chunk on the rail to its end `stages` stages on.
double last_chunk_s(double stages, const Terms& t) {
  const double alone = stages * (t.rail.bytes_s + t.rail.latency_s);
  return std::max(alone, t.rail.bytes_s + chunked_chain(stages - 1, t.chunks, t.rail));
}

/// The longest of the ways through a reduction and `more` stages of the rail behind it: inside up
/// to the first chunk of the second, third or last stage, or the last chunk of the second or last
/// stage, then the rail.
double ho_reduce_s(const Terms& t, double pass, double more) {
  const double stage = t.chunks * pass;
  double longest = 0;
  for (const double from : {1.0, 2.0, t.nodes - 1}) {
    if (from >= t.nodes) continue;
    const double left = t.nodes - 1 - from + more;
    longest =
        std::max({longest, first_sum_s(t, pass, from) + chunked_chain(left + 1, t.chunks, t.rail),
                  (from + 1) * stage + end_latency(t) + last_chunk_s(left + 1, t)});
  }
  return longest;
}

/// A reduction and a gather that follow each other by chunks: the rail all the way; or what is left
/// inside once the first or the last chunk is summed.
double ho_all_reduce_s(const Terms& t, double pass) {
  const double end = end_latency(t);
  const double stage = t.chunks * pass;
  const double hop = t.nodes > 1 ? t.rail.bytes_s + t.rail.latency_s : 0;
  const double inside = t.nodes * stage;
  const double first = (t.nodes > 1 ? first_sum_s(t, pass, t.nodes - 1) : pass + end) + hop;
  const double last = inside + end + hop;
  const double longest =
      std::max(std::max(inside, first) + inside, last + inside - stage + pass) + end;
  if (t.nodes == 1) return longest;
  const double by_rail = ho_reduce_s(t, pass, t.nodes - 1) + pass + end;
  return std::max({longest, by_rail, first + ho_gather_s(t, pass)});
}

double ho_ring_s(const Terms& t, const ScheduleSpec& spec) {
  const double pass = pass_s(t, spec.inner);
  if (t.members == 1) return chunked_chain(t.passes * (t.nodes - 1), t.chunks, t.rail);
  if (both_ways(spec.collective)) return ho_all_reduce_s(t, pass);
  if (t.nodes == 1) return t.chunks * pass + end_latency(t);
  return spec.collective == Collective::kAllGather ? ho_gather_s(t, pass) : ho_reduce_s(t, pass, 0);
}

double two_level_s(const Terms& t, const ScheduleSpec& spec) {
  if (t.nodes == 1) return ho_ring_s(t, spec);
  const double inside = t.nodes * t.chunks * pass_s(t, spec.inner) + end_latency(t);
  return t.passes * inside + chunked_chain(t.passes * (t.nodes - 1), t.chunks, t.rail);
}

double direct_s(const Terms& t, Collective collective) {
  if (t.ranks == 1) return 0;
  const Hop& first = t.members > 1 ? t.inside : t.rail;
  const Hop& last = t.nodes > 1 ? t.rail : t.inside;
  const double once =
      t.chunks * ((t.members - 1) * t.inside.bytes_s + (t.ranks - t.members) * t.rail.bytes_s);
  if (!both_ways(collective)) return once + last.latency_s;
  // The first chunk's sum, or the last chunk's, is what the second half waits for.
  const double turned = once - (t.chunks - 1) * last.bytes_s + last.latency_s;
  const double by_first = std::max(once, turned) + once;
  const double by_last = once + last.latency_s + once - (t.chunks - 1) * first.bytes_s;
  return std::max(by_first, by_last) + last.latency_s;
}

double halving_doubling_s(const Terms& t) {
  double seconds = 0;
  for (double bit = 1; bit < t.ranks; bit *= 2) {
    const Hop& hop = bit < t.members ? t.inside : t.rail;
    seconds += t.run_s(hop, bit * t.chunks) + hop.latency_s;
  }
  return t.passes * seconds;
}

/// From the root of a binomial tree of `ranks` to its last rank, one chunk of the buffer.
double spread_s(const Terms& t, std::int32_t ranks) {
  double sent = 0;
  double last = 0;
  std::int32_t bit = 1;
  while (bit * 2 < ranks) bit *= 2;
  for (; bit >= 1 && ranks > 1; bit /= 2) {
    const Hop& hop = bit < t.members ? t.inside : t.lone;
    sent += t.run_s(hop, t.ranks);
    const std::int32_t below = std::min(bit, ranks - bit);
    double inside = 0;
    if (below == bit) {
      for (std::int32_t b = 1; b < bit; b *= 2) {
        const Hop& lower = b < t.members ? t.inside : t.lone;
        inside += t.run_s(lower, t.ranks) + lower.latency_s;
      }
    } else {
      inside = spread_s(t, below);
    }
    last = std::max(last, sent + hop.latency_s + inside);
  }
  return last;
}

/// The two halves of an all-reduce in chunks share links; here they follow each other.
double tree_s(const Terms& t) {
  double busy = 0;
  for (double bit = 1; bit < t.ranks; bit *= 2) {
    busy += t.run_s(bit < t.members ? t.inside : t.lone, t.ranks);
  }
  return t.passes * (spread_s(t, static_cast<std::int32_t>(t.ranks)) + (t.chunks - 1) * busy);
}

double relay_s(const Terms& t) {
  const double pass = pass_s(t, Inner::kDirect);
  const double stage = t.chunks * pass;
  const double message = t.chunks == 1 ? t.run_s(t.rail, t.members) : t.members * t.rail.bytes_s;
  const double end = end_latency(t);
  if (t.nodes == 1) return stage + end;
  const double rail = (t.nodes - 1) * t.chunks * message + t.rail.latency_s;
  const double first = std::max(stage, message + t.rail.latency_s);
  return std::max(rail + pass, first + (t.nodes - 1) * stage) + end;
}

}  // namespace

GroupLinks group_links(const Cluster& cluster, std::int32_t members, std::int32_t nodes) {
  GroupLinks links{.members = members, .nodes = nodes, .message_s = kMessageStart};
  const auto node_levels = static_cast<std::size_t>(levels_in_node(cluster));
  for (std::size_t i = 0; i < node_levels; ++i) {
    const Level& level = cluster.levels[i];
    const std::int64_t lower = i == 0 ? 1 : cluster.levels[i - 1].size;
    if (lower >= members || level.uplink_bytes_per_s <= 0) continue;
    links.inside_s_per_byte = std::max(links.inside_s_per_byte, 1 / level.uplink_bytes_per_s);
    links.inside_latency_s = level.latency_s;
  }
  if (nodes == 1) return links;
  std::vector<double> on_nic(
      static_cast<std::size_t>(std::max<std::int64_t>(1, cluster.nics_per_node)));
  for (std::int32_t i = 0; i < members && i < std::ssize(cluster.nic_of_device); ++i) {
    on_nic[static_cast<std::size_t>(cluster.nic_of_device[static_cast<std::size_t>(i)])] += 1;
  }
  const std::int64_t own =
      std::max<std::int64_t>(1, cluster.nics_per_node / cluster.devices_per_node);
  const double nic = cluster.nic_bytes_per_s * static_cast<double>(own);
  links.lone_s_per_byte = nic > 0 ? 1 / nic : 0;
  links.rail_s_per_byte = links.lone_s_per_byte * *std::max_element(on_nic.begin(), on_nic.end());
  for (std::size_t i = node_levels; i < cluster.levels.size(); ++i) {
    const Level& level = cluster.levels[i];
    const std::int64_t lower = i == 0 ? 1 : cluster.levels[i - 1].size;
    if (lower >= std::int64_t{cluster.devices_per_node} * nodes) continue;
    links.network_latency_s = level.latency_s;
    if (level.uplink_bytes_per_s <= 0) continue;
    const double below =
        static_cast<double>(std::max<std::int64_t>(1, lower / cluster.devices_per_node));
    links.lone_s_per_byte = std::max(links.lone_s_per_byte, 1 / level.uplink_bytes_per_s);
    links.rail_s_per_byte =
        std::max(links.rail_s_per_byte, members * below / level.uplink_bytes_per_s);
  }
  return links;
}

double closed_seconds(const ScheduleSpec& spec, const GroupLinks& links, double payload_bytes) {
  const Terms terms(spec, links, payload_bytes);
  if (terms.ranks == 1) return 0;
  switch (spec.method) {
    case Method::kRing: return ring_s(terms);
    case Method::kHalvingDoubling: return halving_doubling_s(terms);
    case Method::kTree: return tree_s(terms);
    case Method::kDirect: return direct_s(terms, spec.collective);
    case Method::kTwoLevel: return two_level_s(terms, spec);
    case Method::kHoRing: return ho_ring_s(terms, spec);
    case Method::kRelay: return relay_s(terms);
  }
  return 0;
}

OverlappedLevels OverlappedLevels::with_ends() const {
  if (members <= 1 || nodes <= 1) return *this;
  const double passes = both_ways(collective) ? 2 : 1;
  const double stage_s = inside_s / (passes * nodes);
  const double rail_s = network_s / (passes * (nodes - 1));
  const double ends = collective == Collective::kAllGather ? 1 : passes + 1;
  double least = INFINITY;
  for (double chunks = 1; chunks <= kMostChunks; chunks *= 2) {
    const double starts = passes * chunks * kMessageStart;
    double tail_s = collective == Collective::kAllGather ? 0 : rail_s / chunks;
    if (both_ways(collective)) tail_s = std::max(0.0, (rail_s - (chunks - 1) * stage_s) / chunks);
    const double inside = inside_s + nodes * (members - 1) * starts + tail_s;
    const double network = network_s + (nodes - 1) * starts + ends * stage_s / chunks;
    least = std::min(least, std::max(inside, network));
  }
  OverlappedLevels with = *this;
  (inside_s > network_s ? with.inside_s : with.network_s) = least;
  return with;
}

ScheduleSpec with_best_chunks(ScheduleSpec spec, const GroupLinks& links, double payload_bytes) {
  ScheduleSpec best = spec;
  best.chunks = 1;
  double least = closed_seconds(best, links, payload_bytes);
  for (std::int32_t chunks = 2; chunks <= kMostChunks; chunks *= 2) {
    spec.chunks = chunks;
    if (why_not(spec)) break;
    const double seconds = closed_seconds(spec, links, payload_bytes);
    if (seconds >= least) continue;
    least = seconds;
    best = spec;
  }
  return best;
}

ScheduleSpec fastest_schedule(Collective collective, const GroupLinks& links,
                              double payload_bytes) {
  ScheduleSpec best{Method::kRing, collective, {links.members, links.nodes}};
  double least = -1;
  for (const auto& [method, name] : kMethodNames) {
    const ScheduleSpec spec{method, collective, {links.members, links.nodes}};
    if (why_not(spec)) continue;
    const ScheduleSpec chunked = with_best_chunks(spec, links, payload_bytes);
    const double seconds = closed_seconds(chunked, links, payload_bytes);
    if (least >= 0 && seconds >= least) continue;
    least = seconds;
    best = chunked;
  }
  return best;
}

}  // namespace stepwright

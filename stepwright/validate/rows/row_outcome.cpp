#include "stepwright/validate/rows/row_outcome.h"

#include <algorithm>

namespace stepwright::validate {

std::string_view TableRowPrediction::largest_term() const {
  const auto by_value = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto largest = std::ranges::max_element(terms, by_value);
  return largest == terms.end() ? std::string_view{} : largest->first;
}

}  // namespace stepwright::validate

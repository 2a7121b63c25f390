#pragma once

#include <string>
#include <string_view>

namespace stepwright::serve {

/// The page that is served, also in compressed form.
struct ServedPage {
  explicit ServedPage(std::string page);

  std::string text;
  std::string packed;  ///< The page compressed with gzip (RFC 1952).
  std::string tag;     ///< HTTP entity tag, with its quotation marks; it differs for every text.
};

/// Returns the icon of the page, as SVG.
std::string_view favicon();

}  // namespace stepwright::serve

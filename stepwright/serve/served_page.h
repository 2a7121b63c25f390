#pragma once

#include <string>
#include <string_view>

namespace stepwright::serve {

/// A page as browsers may ask for it.
struct ServedPage {
  explicit ServedPage(std::string page);

  std::string text;
  std::string packed;  ///< The text in gzip's format (RFC 1952).
  std::string tag;     ///< Entity tag with its quotation marks; another text has another one.
};

/// Icon of the page, as SVG.
std::string_view favicon();

}  // namespace stepwright::serve

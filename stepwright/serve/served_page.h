#pragma once

#include <string>
#include <string_view>

namespace stepwright::serve {

/// The HTML page that is served, as text and compressed.
struct ServedPage {
  explicit ServedPage(std::string page);

  std::string text;
  std::string packed;  ///< The page's text, compressed with gzip (RFC 1952).
  /// HTTP entity tag (ETag) of the page, with its quotation marks; different texts have different
  /// tags.
  std::string tag;
};

/// Returns the icon of the page, as SVG.
std::string_view favicon();

}  // namespace stepwright::serve

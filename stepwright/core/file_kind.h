#pragma once

#include <string>
#include <string_view>

namespace stepwright {

/// Names the kind of a file that holds no UTF-8 text, by its first bytes, and says how text is made
/// of it: "is a gzip file: unpack it first (gunzip < plan.gz > FILE)". `name`: the file's path. 512
/// bytes tell every kind. Empty: the file may be text.
std::string foreign_kind(std::string_view start, std::string_view name);

}  // namespace stepwright

#include "stepwright/core/program_folder.h"

#include <dlfcn.h>
#include <link.h>

#include <string_view>
#include <system_error>

namespace stepwright {

std::filesystem::path program_folder() {
  Dl_info place{};
  void* map = nullptr;
  ::dladdr1(reinterpret_cast<const void*>(&program_folder), &place, &map, RTLD_DL_LINKMAP);
  const std::string_view library = map == nullptr ? "" : static_cast<link_map*>(map)->l_name;
  if (!library.empty()) return std::filesystem::path(library).parent_path();
  std::error_code error;  // if this fails, the program has no path
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace stepwright

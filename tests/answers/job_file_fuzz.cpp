#include <cstddef>
#include <cstdint>
#include <string>

#include "stepwright/answers/job_file.h"

/// Any content gets a role in a diagnosis without an error; the first byte chooses the file's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr const char* kNames[] = {"a", "a.yaml", "a.toml", "a.json", "a.py", "a.sh", "a.log"};
  if (size == 0) return 0;
  const stepwright::answers::UserFile file{
      .name = kNames[data[0] % std::size(kNames)],
      .text = std::string(reinterpret_cast<const char*>(data + 1), size - 1),
      .folder = {}};
  stepwright::answers::recognise_user_file_role(file);
  return 0;
}

#include "stepwright/answers/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "stepwright/core/error.h"
#include "stepwright/core/output_path.h"
#include "stepwright/core/utf8.h"

namespace stepwright::answers {
namespace {

namespace fs = std::filesystem;

/// Removes the file unless it was given its name.
class Temporary {
 public:
  explicit Temporary(const fs::path& target) : path_(target) {
    path_ += fmt::format(".part-{}", ::getpid());
  }
  ~Temporary() {
    std::error_code ignored;
    if (!renamed_) fs::remove(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  void rename(const fs::path& target) {
    std::error_code error;
    fs::rename(path_, target, error);
    if (error) fail_to_write(target, error.message());
    renamed_ = true;
  }

 private:
  fs::path path_;
  bool renamed_ = false;
};

/// `shown` stands for the file in messages. `mode`: nullopt for that of a new file.
void write_to(const fs::path& path, const std::function<void(std::ostream&)>& write,
              const fs::path& shown, std::optional<fs::perms> mode = std::nullopt) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  if (!out) fail_to_write(shown);
  // Before the content, which nobody else may read in the meantime; file systems may have no modes.
  std::error_code ignored;
  if (mode) fs::permissions(path, *mode, ignored);
  write(out);
  out.close();
  if (!out) fail_to_write(shown);
}

/// The file itself where the path is a link to it.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::is_symlink(path, error) ? fs::canonical(path, error) : path;
  return error ? path : target;
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& json) {
  constexpr int kIndent = 2;
  return plain_text(
             json.dump(kIndent, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         '\n';
}

void check_output(const std::string& output, const std::string& input) {
  check_writable(output);
  std::error_code error;
  if (fs::equivalent(output, input, error) && !error) {
    fail_input(fmt::format("{}: is the input; give the output another name", output));
  }
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  const fs::path target = resolved(path);
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  check_writable(path);
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_to(target, write, path);
  Temporary temporary(target);
  std::optional<fs::perms> mode;
  if (fs::exists(status)) mode = status.permissions();
  write_to(temporary.path(), write, path, mode);
  temporary.rename(target);
}

void write_file(const fs::path& path, const std::string& text) {
  write_file(path, [&](std::ostream& out) { out << text; });
}

}  // namespace stepwright::answers

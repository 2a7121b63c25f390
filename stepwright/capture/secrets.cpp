#include "stepwright/capture/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace stepwright::capture {
namespace {

/// Shortest secret that is searched for; shorter values also occur in unrelated words.
constexpr std::size_t kShortestSecret = 8;
constexpr std::string_view kLeftOut = "[left out]";

constexpr std::array<std::string_view, 9> kAlwaysSecret = {
    "secret",     "secrets",     "password", "passwd", "passphrase",
    "credential", "credentials", "auth",     "apikey"};

/// Words before `key` or `token` that make an argument the name of a column or a symbol.
constexpr std::array<std::string_view, 47> kHarmlessBefore = {
    "answer", "audio", "bos",      "chosen",   "cls",    "column",  "content",  "data",
    "each",   "end",   "eos",      "first",    "group",  "image",   "input",    "json",
    "label",  "last",  "mask",     "max",      "media",  "message", "messages", "min",
    "mtp",    "new",   "next",     "num",      "output", "pad",     "per",      "placeholder",
    "prompt", "query", "rejected", "response", "reward", "sep",     "sort",     "special",
    "start",  "stop",  "system",   "text",     "think",  "unk",     "video"};

constexpr std::array<std::string_view, 7> kKeyOwners = {"api",     "access",  "secret", "private",
                                                        "account", "license", "ssh"};

template <class Table>
bool is_among(const Table& table, std::string_view word) {
  return std::ranges::find(table, word) != table.end();
}

std::vector<std::string> name_words(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  std::erase(words, "");
  return words;
}

bool has_prefix_and_length(std::string_view value, std::string_view prefix, std::size_t length) {
  return value.starts_with(prefix) && value.size() >= length &&
         std::ranges::all_of(value.substr(prefix.size()), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-';
         });
}

/// Rewrites the words of one command; what happens to a word depends on the option before it.
class Redaction {
 public:
  Redaction(const std::vector<std::string>& secrets, std::vector<std::string>& left_out)
      : secrets_(secrets), left_out_(left_out) {}

  Words apply(const Words& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      const std::size_t equals = word.find('=');
      const bool option = word.starts_with('-');
      if (option && equals == std::string::npos && is_secret_argument(word)) {
        leave_out(word);
        if (i + 1 < words.size() && !words[i + 1].starts_with('-')) ++i;
      } else if (equals != std::string::npos && is_secret_argument(word.substr(0, equals))) {
        assignment(word, equals);
      } else if (words[i == 0 ? 0 : i - 1].ends_with("env") && i > 0 && is_secret_variable(word)) {
        kept_.push_back(word);  // The word belongs to -genv NAME VALUE.
        if (i + 1 < words.size() && ++i > 0) kept_.emplace_back(kLeftOut);
        leave_out(word);
      } else {
        kept_.push_back(without_values(word));
      }
    }
    return std::move(kept_);
  }

 private:
  void leave_out(std::string_view name) {
    if (std::ranges::find(left_out_, name) == left_out_.end()) left_out_.emplace_back(name);
  }

  /// Handles a secret NAME=VALUE: after an option only NAME is kept, elsewhere the word is dropped.
  void assignment(const std::string& word, std::size_t equals) {
    const std::string name = word.substr(0, equals);
    leave_out(name);
    const bool behind_option = !kept_.empty() && kept_.back().starts_with('-') &&
                               kept_.back().find('=') == std::string::npos;
    if (!word.starts_with('-') && behind_option) kept_.push_back(name);
  }

  std::string without_values(std::string word) {
    if (looks_like_secret(word) || word.find("Bearer ") != std::string::npos) {
      leave_out(word.substr(0, 4) + "...");
      return std::string(kLeftOut);
    }
    for (const std::string& secret : secrets_) {
      for (std::size_t at = word.find(secret); at != std::string::npos; at = word.find(secret)) {
        word.replace(at, secret.size(), kLeftOut);
        leave_out("the value of a secret variable");
      }
    }
    return without_pieces(word);
  }

  /// Removes the secrets from a list such as "--export=ALL,HF_TOKEN=x": "--export=ALL,HF_TOKEN".
  std::string without_pieces(const std::string& word) {
    if (word.find(',') == std::string::npos && word.find('=') == word.rfind('=')) return word;
    std::string kept;
    for (std::size_t at = 0; at <= word.size();) {
      const std::size_t end = std::min(word.find(',', at), word.size());
      std::string piece = word.substr(at, end - at);
      const std::size_t equals = piece.rfind('=');
      if (equals != std::string::npos) {
        const std::size_t start = piece.rfind('=', equals == 0 ? 0 : equals - 1);
        const std::size_t from = start == equals || start == std::string::npos ? 0 : start + 1;
        const std::string name = piece.substr(from, equals - from);
        if (!name.starts_with('-') && is_secret_variable(name) && is_secret_argument(name)) {
          leave_out(name);
          piece = piece.substr(0, equals);
        }
      }
      kept += piece;
      if (end < word.size()) kept += ',';
      at = end + 1;
    }
    return kept;
  }

  const std::vector<std::string>& secrets_;
  std::vector<std::string>& left_out_;
  Words kept_;
};

}  // namespace

bool is_secret_variable(std::string_view name) {
  return std::ranges::any_of(name_words(name), [](const std::string& word) {
    return is_among(kAlwaysSecret, word) || word == "token" || word == "key";
  });
}

bool is_secret_argument(std::string_view name) {
  const std::vector<std::string> words = name_words(name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_among(kAlwaysSecret, words[i])) return true;
    const bool last = i + 1 == words.size();
    const std::string_view before = i > 0 ? std::string_view(words[i - 1]) : "";
    if (words[i] == "key" && is_among(kKeyOwners, before)) return true;
    if (!last || (words[i] != "key" && words[i] != "token")) continue;
    if (!before.empty() && !is_among(kHarmlessBefore, before)) return true;
    if (before.empty() && words[i] == "token") return true;
  }
  return false;
}

bool looks_like_secret(std::string_view value) {
  constexpr std::size_t kToken = 24, kAccessKey = 20;
  for (const std::string_view prefix : {"hf_", "ghp_", "gho_", "github_pat_", "sk-", "glpat-"}) {
    if (has_prefix_and_length(value, prefix, kToken)) return true;
  }
  if (has_prefix_and_length(value, "AKIA", kAccessKey) && value.size() == kAccessKey) return true;
  const std::size_t scheme = value.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view host = value.substr(scheme + 3, value.find('/', scheme + 3) - scheme - 3);
  const std::size_t at = host.find('@');
  return at != std::string_view::npos && host.substr(0, at).find(':') != std::string_view::npos;
}

Words command_without_secrets(const Words& words, const std::vector<std::string>& secrets,
                              std::vector<std::string>& left_out) {
  return Redaction(secrets, left_out).apply(words);
}

std::vector<std::string> secret_environment_values(
    const std::map<std::string, std::string>& environment) {
  std::vector<std::string> values;
  for (const auto& [name, value] : environment) {
    if (value.size() >= kShortestSecret && is_secret_variable(name)) values.push_back(value);
  }
  return values;
}

}  // namespace stepwright::capture

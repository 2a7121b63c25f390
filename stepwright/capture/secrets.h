#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// True if an environment variable is a secret by its name: one of the words between underscores is
/// SECRET, TOKEN, KEY, PASSWORD, CREDENTIAL, AUTH, APIKEY or similar, in any case.
/// TOKENIZERS_PARALLELISM is not a secret.
bool is_secret_variable(std::string_view name);

/// True if a command-line argument is a secret by its name (with or without dashes). `token` and
/// `key` count only as the last word and not after words such as `pad` or `prompt`, so that
/// --pad_token_id or --num-key-value-heads are kept.
bool is_secret_argument(std::string_view name);

/// True if a value looks like a secret, whatever its name: hf_..., ghp_..., sk-..., AKIA..., or
/// user:password@ in an address.
bool looks_like_secret(std::string_view value);

/// Removes secrets from the words of a command. `--hf_token X` and `x.api_key=X` are dropped; `-e
/// HF_TOKEN=X` becomes `-e HF_TOKEN`; a word that is or contains one of the values `secrets`
/// becomes `[left out]`. Adds the names to `left_out`.
Words command_without_secrets(const Words& words, const std::vector<std::string>& secrets,
                              std::vector<std::string>& left_out);

/// Returns the values of secret environment variables that have at least 8 bytes.
std::vector<std::string> secret_environment_values(
    const std::map<std::string, std::string>& environment);

}  // namespace stepwright::capture

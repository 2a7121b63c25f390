#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Returns true if the name of an environment variable says that its value is a secret: one of its
/// words between underscores is SECRET, TOKEN, KEY, PASSWORD, PASSWD, PASSPHRASE, CREDENTIAL,
/// CREDENTIALS, AUTH or APIKEY, in any case. TOKENIZERS_PARALLELISM is none.
bool is_secret_variable(std::string_view name);

/// Returns true if the name of an argument (with or without dashes) says that its value is a
/// secret. Names of training options (--pad_token_id, --num-key-value-heads,
/// --moe-token-dispatcher-type, data.prompt_key) are none: `token` and `key` count only as the last
/// word, and not behind words such as `pad` or `prompt`.
bool is_secret_argument(std::string_view name);

/// Returns true if a text looks like a secret, whatever its name: hf_..., ghp_..., sk-..., AKIA...,
/// or user:password@ in an address.
bool looks_like_secret(std::string_view value);

/// Removes secrets from the words of a command. `--hf_token X` and `x.api_key=X` disappear;
/// `-e HF_TOKEN=X` becomes `-e HF_TOKEN`; a word that is or contains a value of `secrets` becomes
/// `[left out]`. The names are added to `left_out`.
Words without_secrets(const Words& words, const std::vector<std::string>& secrets,
                      std::vector<std::string>& left_out);

/// Returns the values, of 8 bytes or more, of the secret variables of an environment.
std::vector<std::string> secret_values(const std::map<std::string, std::string>& environment);

}  // namespace stepwright::capture

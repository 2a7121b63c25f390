#pragma once

#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/huggingface/hub_files.h"

namespace stepwright::framework_files {

/// Reads the arguments of `swift sft`. modelscope/ms-swift swift/arguments/sft_args.py,
/// swift/arguments/base_args, swift/trainers/arguments.py, swift/config.
Draft read_swift_trainer(const Fields& fields, const HubFiles& files, const UserFacts& given,
                         Draft draft, ImportReport& report);

/// Takes adapters if the tuner trains them; `usual` is the program's default tuner. Sources:
/// modelscope/ms-swift swift/arguments/tuner_args.py, swift/arguments/base_args/quant_args.py.
void read_tuner(const Fields& fields, std::string_view usual, const UserFacts& given,
                ModelWords& model_words, ImportReport& report);

/// Reads how documents are packed, if the user states document lengths.
void read_swift_packing(const Fields& fields, const UserFacts& given, JobBatch& batch,
                        ImportReport& report);

}  // namespace stepwright::framework_files

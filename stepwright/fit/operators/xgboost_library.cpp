#include "stepwright/fit/operators/xgboost_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "stepwright/core/error.h"

namespace stepwright::fit {
namespace {

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr) {
    throw Error(ErrorKind::kRuntime, fmt::format("{}: has no {}", STEPWRIGHT_XGBOOST, name));
  }
}

XgboostLibrary opened() {
  void* const library = ::dlopen(STEPWRIGHT_XGBOOST, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ErrorKind::kRuntime, fmt::format("fits of trees need XGBoost: {}", ::dlerror()));
  }
  XgboostLibrary found{};
  find(library, "XGBGetLastError", found.last_error);
  find(library, "XGDMatrixCreateFromMat", found.matrix_create);
  find(library, "XGDMatrixSetFloatInfo", found.matrix_set);
  find(library, "XGDMatrixFree", found.matrix_free);
  find(library, "XGBoosterCreate", found.create);
  find(library, "XGBoosterSetParam", found.set);
  find(library, "XGBoosterUpdateOneIter", found.update);
  find(library, "XGBoosterPredict", found.predict);
  find(library, "XGBoosterSaveModelToBuffer", found.save);
  find(library, "XGBoosterFree", found.free);
  return found;
}

}  // namespace

const XgboostLibrary& load_xgboost_library() {
  static const XgboostLibrary kLibrary = opened();
  return kLibrary;
}

}  // namespace stepwright::fit

#pragma once

#include <xgboost/c_api.h>

namespace stepwright::fit {

/// The functions of XGBoost's C interface that are used. The library is opened when trees are first
/// fitted: loading it takes longer than all that most commands do before they read a file.
struct XgboostLibrary {
  decltype(&XGBGetLastError) last_error;
  decltype(&XGDMatrixCreateFromMat) matrix_create;
  decltype(&XGDMatrixSetFloatInfo) matrix_set;
  decltype(&XGDMatrixFree) matrix_free;
  decltype(&XGBoosterCreate) create;
  decltype(&XGBoosterSetParam) set;
  decltype(&XGBoosterUpdateOneIter) update;
  decltype(&XGBoosterPredict) predict;
  decltype(&XGBoosterSaveModelToBuffer) save;
  decltype(&XGBoosterFree) free;
};

/// The library. Fails with `kRuntime` when it is not where it was when this was built.
const XgboostLibrary& xgboost();

}  // namespace stepwright::fit

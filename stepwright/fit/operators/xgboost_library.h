#pragma once

#include <xgboost/c_api.h>

namespace stepwright::fit {

/// The functions of XGBoost's C interface that are used. The library is loaded when trees are first
/// fitted, since loading takes longer than most commands need before they read a file.
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

/// Returns the library, loading it if needed. Fails with `kRuntime` when it is not at its path of
/// the time of the build.
const XgboostLibrary& xgboost();

}  // namespace stepwright::fit

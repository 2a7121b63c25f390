#pragma once

#include <xgboost/c_api.h>

namespace stepwright::fit {

/// The functions of XGBoost's C interface that are used. The library is loaded when trees are first
/// fitted, since loading takes long.
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

/// Returns the XGBoost library, loading it if needed. Fails with `kRuntime` if it is not at the
/// path known since the build.
const XgboostLibrary& load_xgboost_library();

}  // namespace stepwright::fit

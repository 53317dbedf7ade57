//! Sessions: transactions that are run again when that may help.
({
  // The rules are those of the drivers' convenient API for transactions: for two minutes, the whole function after an
  // error that is passing, the commit alone where nobody knows how it ended.
  withTransaction(work, options) {
    const begun = Date.now();
    const again = (error, label) =>
      Array.isArray(error?.errorLabels) && error.errorLabels.includes(label) && Date.now() - begun < 120000;
    for (;;) {
      this.startTransaction(options);
      let result;
      try {
        result = shell.wait(shell.mongosh ? work() : work(this));
      } catch (error) {
        if (this.__open()) this.abortTransaction();
        if (again(error, "TransientTransactionError")) continue;
        throw error;
      }
      // The function has ended it itself.
      if (!this.__open()) return result;
      for (;;) {
        try {
          this.commitTransaction();
          return result;
        } catch (error) {
          if (error?.code !== 50 && again(error, "UnknownTransactionCommitResult")) continue;
          if (again(error, "TransientTransactionError")) break;
          throw error;
        }
      }
    }
  },
})

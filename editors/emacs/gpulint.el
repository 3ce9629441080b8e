;;; gpulint.el --- GPU cost at the end of each line -*- lexical-binding: t -*-

;; Load this file after eglot or lsp-mode. It configures both.

;;; Code:

(defconst gpulint-modes
  '(terraform-mode hcl-mode yaml-mode yaml-ts-mode json-mode json-ts-mode bicep-mode bicep-ts-mode
    sh-mode bash-ts-mode)
  "Major modes of files that can define or request accelerators.")

(defvar gpulint-command '("gpulint" "server")
  "The command that starts the server.")

;; Eglot starts one server for each mode, so gpulint replaces another one.
(with-eval-after-load 'eglot
  (defvar eglot-server-programs)
  (add-to-list 'eglot-server-programs (cons gpulint-modes gpulint-command)))

;; lsp-mode runs it next to other servers.
(with-eval-after-load 'lsp-mode
  (declare-function lsp-register-client "lsp-mode")
  (declare-function make-lsp-client "lsp-mode")
  (declare-function lsp-stdio-connection "lsp-mode")
  (defvar lsp-language-id-configuration)
  (dolist (mode '((terraform-mode . "terraform") (hcl-mode . "hcl")))
    (add-to-list 'lsp-language-id-configuration mode))
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection (lambda () gpulint-command))
                    :major-modes gpulint-modes
                    :server-id 'gpulint
                    :add-on? t
                    :priority -1)))

(provide 'gpulint)
;;; gpulint.el ends here

;;; gpulint.el --- What GPUs cost, on the line -*- lexical-binding: t -*-

;; Load it after you have chosen between eglot and lsp-mode; it prepares both.

;;; Code:

(defconst gpulint-modes
  '(terraform-mode hcl-mode yaml-mode yaml-ts-mode json-mode json-ts-mode bicep-mode bicep-ts-mode
    sh-mode bash-ts-mode)
  "Modes of text that may rent or ask for accelerators.")

(defvar gpulint-command '("gpulint" "server")
  "How the server is started.")

;; Eglot starts one server a mode: this one takes the place of another.
(with-eval-after-load 'eglot
  (defvar eglot-server-programs)
  (add-to-list 'eglot-server-programs (cons gpulint-modes gpulint-command)))

;; lsp-mode keeps it beside others.
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

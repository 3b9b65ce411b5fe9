; A script as a task: `(system:run_script "wc" args: ["-l"] input: text timeout: 300)` gives a
; TaskResult. Its content is what the script wrote; stdout, stderr and exit_code are its notes.
;
; That a script ends with another code than 0 is for the program to judge: a FAILED TaskResult. That
; it could not be run, or took too long, is an error.

(define _LONGEST 300)  ; characters of what it says about itself

(define (_why said)
  (if (empty? said)
      ""
      (str ": " (substring said 0 (min _LONGEST (string-length said))))))

(define (_failure command notes)
  (bind why (_why (string-trim notes.stderr)))
  (attempt (raise
             {type: "TASK_FAILURE"
              reason: "tool_execution_error"
              message: (format "`~a` ended with exit code ~a~a" command notes.exit_code why)
              content: notes.stdout
              details: {code: "script-status"
                        script_stdout: notes.stdout
                        script_stderr: notes.stderr
                        script_exit_code: notes.exit_code}
              hint:
                "run it outside the program, in the program's folder, with the same arguments"})))

; Runs a program with its arguments, no shell, and `input:` on its standard input, for `timeout:`
; seconds at most: a TaskResult whose content is what it wrote, with stdout, stderr, exit_code and
; truncated in its notes. Another exit code than 0 makes it FAILED; that it could not be run, or took
; too long, is an error.
(define (system:run_script command (args []) (input nil) (timeout 300))
  (bind ended (run-script command args input timeout))
  (bind notes
    {stdout: (or ended.stdout "")
     stderr: (or ended.stderr "")
     exit_code: ended.exit_code
     truncated: ended.truncated})
  (if (equal? ended.exit_code 0)
      (task-result {content: notes.stdout status: "COMPLETE" notes: notes})
      (let ((failed (_failure command notes)))
        (task-result (merge failed {notes: (merge failed.notes notes)})))))

package paths

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// foreign reports whether a file belongs to another user.
func (r Root) foreign(name string, _ fs.FileInfo) bool { return r.OnOS && Foreign(name) }

// Foreign reports whether a file of Windows belongs to another user. Files of the group
// Administrators belong to each member.
func Foreign(name string) bool {
	security, err := windows.GetNamedSecurityInfo(name, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return true
	}
	owner, _, err := security.Owner()
	if err != nil || owner == nil {
		return true
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err == nil && owner.Equals(user.User.Sid) {
		return false
	}
	member, err := windows.Token(0).IsMember(owner)
	return err != nil || !member || !owner.IsWellKnown(windows.WinBuiltinAdministratorsSid)
}

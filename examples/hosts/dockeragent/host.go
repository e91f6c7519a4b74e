// Package dockeragent has the loader of docker-agent with a catalog. This file names the type of
// docker-agent that the loader fills, as in pkg/skills/skills.go of github.com/docker/docker-agent
// v1.32.3.
package dockeragent

// Skill has the fields of the type in docker-agent.
type Skill struct {
	Name, Description, FilePath, BaseDir string
	Files                                []string
	License, Compatibility               string
	Metadata                             map[string]string
	AllowedTools                         []string
}

// Load stands for the function of docker-agent, which names the directories. Later directories
// override earlier ones.
func Load(dirs ...string) []Skill {
	byName := map[string]Skill{}
	for _, dir := range dirs {
		for _, skill := range loadSkillsFromDir(dir, false) {
			byName[skill.Name] = skill
		}
	}
	var all []Skill
	for _, skill := range byName {
		all = append(all, skill)
	}
	return all
}
